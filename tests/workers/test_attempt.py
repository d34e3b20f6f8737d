"""One try at a ticket."""

from collections.abc import Callable

import pytest

from shared.errors import Busy, Stopped
from shared.services import Services
from shared.tickets import Ticket
from tests.workers.clock import HandClock
from tests.workers.faulty import Faulty
from tests.workers.making import an_encode, an_ingest, processing
from workers.attempt import Attempt
from workers.scratch import Scratch

MakeAttempt = Callable[[Ticket], Attempt]


def test_progress_is_written_about_once_a_second(services: Services, clock: HandClock, attempt: MakeAttempt) -> None:
    video = processing(services)
    trying = attempt(an_encode(services, video))
    before = services.meter.counts().get(("table", "upsert", "test"), 0)
    for tick in range(100):
        trying.report(tick / 100)
        clock.forward(0.1)
    assert services.meter.counts()["table", "upsert", "test"] - before == 10
    assert services.catalog.progress(video.id, 1)["first"].fraction == 0.9


def test_progress_that_cannot_be_written_does_not_fail_the_work(
    services: Services, attempt: MakeAttempt, faulty: dict[str, Faulty]
) -> None:
    video = processing(services)
    faulty["tables"].refuse("upsert", Busy("busy"))
    attempt(an_encode(services, video)).report(0.5)
    assert services.catalog.progress(video.id, 1) == {}


def test_an_attempt_past_its_lease_stops_even_if_nobody_told_it(services: Services, scratch: Scratch) -> None:
    trying = Attempt(services, an_ingest(services), scratch, overdue=lambda: True)
    with pytest.raises(Stopped):
        trying.check()


def test_each_try_has_a_fresh_id_and_a_private_folder(services: Services, attempt: MakeAttempt) -> None:
    ticket = an_ingest(services)
    one, other = attempt(ticket), attempt(ticket)
    assert one.id != other.id
    assert one.folder != other.folder


def test_the_folder_goes_with_all_in_it(services: Services, attempt: MakeAttempt) -> None:
    trying = attempt(an_ingest(services))
    (trying.folder / "half.mp4").write_bytes(b"half")
    folder = trying.folder
    trying.close()
    assert not folder.exists()
