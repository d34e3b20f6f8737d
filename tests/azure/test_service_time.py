"""The service's time is the time, whatever this machine believes."""

from datetime import UTC, datetime, timedelta
from urllib.request import urlopen

import pytest

from shared import clock as clocks
from shared.azure.stores import open_azure
from shared.clock import SystemClock
from tests.azurite.running import Account


class Behind(datetime):
    """A machine whose clock is ten minutes late: within what the service forgives in a signature, past a link's life."""

    @classmethod
    def now(cls, tz=None):
        return datetime.now(tz) - timedelta(minutes=10)


def test_a_link_of_a_machine_that_is_late_is_good_for_as_long_as_asked(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clocks, "datetime", Behind)
    clock = SystemClock()
    assert datetime.now(UTC) - clock.now() > timedelta(minutes=9)
    blobs, _, _ = open_azure(account.connection_string, lambda *_: None, clock)
    blobs.create_container("media")
    blobs.put("media", "a", b"hello")
    assert abs(datetime.now(UTC) - clock.now()) < timedelta(seconds=5)
    with urlopen(blobs.signed_url("media", "a", right="read", expires_in=timedelta(minutes=1))) as answer:
        assert answer.read() == b"hello"


def test_a_machine_that_agrees_keeps_its_own_finer_time() -> None:
    clock = SystemClock()
    clock.hear(datetime.now(UTC) + timedelta(seconds=1))
    assert abs(datetime.now(UTC) - clock.now()) < timedelta(milliseconds=100)
