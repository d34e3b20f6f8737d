"""The lease keeper: renewing, losing, and stopping in time."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from shared.clock import SystemClock
from shared.errors import Busy, Lost
from shared.queues import Queues
from shared.services import Services
from shared.tickets import Ticket
from tests.workers.clock import HandClock
from tests.workers.faulty import Faulty
from tests.workers.making import an_ingest
from workers.attempt import Attempt
from workers.lease import Held, Lease, LeaseKeeper
from workers.ticker import Ticker

SECONDS = 30.0


@pytest.fixture
def held(services: Services, clock: HandClock, attempt: Callable[[Ticket], Attempt]) -> Held:
    """A ticket just taken, and the attempt at it."""
    ticket = an_ingest(services)
    services.tickets.send(ticket)
    [message] = services.queues.receive("ingest", visibility=timedelta(seconds=SECONDS))
    lease = Lease(services.queues, "ingest", message, clock, taken=clock.monotonic(), seconds=SECONDS)
    return Held(tickets=[ticket], leases=[lease], attempt=attempt(ticket))


def test_a_lease_is_not_renewed_before_a_third_of_its_time(held: Held, clock: HandClock, services: Services) -> None:
    keeper = LeaseKeeper()
    with keeper.keeping(held):
        clock.forward(9.9)
        keeper.renew_due()
    assert ("queue", "update", "test") not in services.meter.counts()


def test_a_lease_renewed_at_a_third_keeps_the_ticket_hidden_as_long_as_the_work_goes_on(
    held: Held, clock: HandClock, services: Services
) -> None:
    keeper = LeaseKeeper()
    with keeper.keeping(held):
        for _ in range(20):
            clock.forward(10)
            keeper.renew_due()
            keeper.stop_overdue()
            assert services.queues.receive("ingest") == []
    assert not held.attempt.stopped.is_set()
    assert services.meter.counts()["queue", "update", "test"] == 20


def test_the_newest_receipt_deletes_the_ticket(held: Held, clock: HandClock, services: Services) -> None:
    keeper = LeaseKeeper()
    with keeper.keeping(held):
        clock.forward(10)
        keeper.renew_due()
    held.leases[0].delete()
    assert services.queues.depth("ingest").messages == 0


def test_a_lost_lease_stops_the_work(held: Held, clock: HandClock, services: Services) -> None:
    keeper = LeaseKeeper()
    clock.forward(SECONDS)
    services.queues.receive("ingest")
    with keeper.keeping(held):
        keeper.renew_due()
    assert held.attempt.stopped.is_set()


def test_a_busy_store_is_asked_again_and_work_goes_on(
    held: Held, clock: HandClock, faulty: dict[str, Faulty]
) -> None:
    faulty["queues"].refuse("update", Busy("busy"), times=2)
    keeper = LeaseKeeper()
    with keeper.keeping(held):
        for _ in range(3):
            clock.forward(10 if not held.leases[0].due() else 1)
            keeper.renew_due()
            keeper.stop_overdue()
    assert not held.attempt.stopped.is_set()
    assert not held.leases[0].due()


def test_a_store_that_stays_busy_stops_the_work_before_the_lease_ends(
    held: Held, clock: HandClock, faulty: dict[str, Faulty], services: Services
) -> None:
    faulty["queues"].refuse("update", Busy("busy"), times=1000)
    keeper = LeaseKeeper()
    with keeper.keeping(held):
        while not held.attempt.stopped.is_set():
            clock.forward(1)
            keeper.renew_due()
            keeper.stop_overdue()
    assert services.queues.receive("ingest") == []
    clock.forward(SECONDS / 6)
    assert services.queues.receive("ingest")


def test_a_lost_reply_of_a_renewal_makes_ownership_unknown_and_stops_the_work_at_the_next(
    held: Held, clock: HandClock, faulty: dict[str, Faulty]
) -> None:
    keeper = LeaseKeeper()
    faulty["queues"].lose_reply("update", Busy("the reply was lost"))
    with keeper.keeping(held):
        clock.forward(10)
        keeper.renew_due()
        assert not held.attempt.stopped.is_set()
        clock.forward(1)
        keeper.renew_due()
    assert held.attempt.stopped.is_set()
    with pytest.raises(Lost):
        held.leases[0].delete()


def test_a_renewal_that_hangs_does_not_keep_the_work_from_being_stopped(
    held: Held, clock: HandClock, faulty: dict[str, Faulty]
) -> None:
    keeper, hangs, end = LeaseKeeper(), threading.Event(), threading.Event()
    faulty["queues"].before("update", lambda: (hangs.set(), end.wait(30))[0])
    renewer = Ticker("renew", keeper.renew_due, every=0.01)
    watcher = Ticker("watch", keeper.stop_overdue, every=0.01)
    with keeper.keeping(held):
        renewer.start()
        watcher.start()
        clock.forward(10)
        assert hangs.wait(5)
        clock.forward(16)
        assert held.attempt.stopped.wait(5)
    end.set()
    renewer.close()
    watcher.close()


def test_a_renewal_that_breaks_in_an_unknown_way_stops_the_work_in_time(
    held: Held, clock: HandClock, faulty: dict[str, Faulty]
) -> None:
    faulty["queues"].refuse("update", RuntimeError("never seen before"), times=10_000)
    keeper = LeaseKeeper()
    renewer, watcher = Ticker("renew", keeper.renew_due, every=0.01), Ticker("watch", keeper.stop_overdue, every=0.01)
    with keeper.keeping(held):
        renewer.start()
        watcher.start()
        clock.forward(26)
        assert held.attempt.stopped.wait(5)
    renewer.close()
    watcher.close()


def test_what_is_settled_is_neither_renewed_nor_overdue(held: Held, clock: HandClock, services: Services) -> None:
    keeper = LeaseKeeper()
    with keeper.keeping(held):
        held.leases[0].delete()
        clock.forward(100)
        keeper.renew_due()
        keeper.stop_overdue()
    assert not held.attempt.stopped.is_set()
    assert ("queue", "update", "test") not in services.meter.counts()


def test_no_more_than_what_is_held_costs_anything(services: Services, clock: HandClock) -> None:
    before = services.meter.total()
    keeper = LeaseKeeper()
    clock.forward(1000)
    keeper.renew_due()
    keeper.stop_overdue()
    assert services.meter.total() == before


def test_a_slow_storage_takes_no_lease_away_however_many_are_held(
    services: Services, attempt: Callable[[Ticket], Attempt], faulty: dict[str, Faulty]
) -> None:
    """Renewed one after another, 32 leases of 6 s would need 32 times the half second that each takes here."""
    clock = SystemClock()
    for _ in range(32):
        services.tickets.send(an_ingest(services))
    taken = clock.monotonic()
    messages = services.queues.receive("ingest", count=32, visibility=timedelta(seconds=6))
    slow = Slow(services.queues, 0.5)
    leases = [Lease(slow, "ingest", message, clock, taken=taken, seconds=6) for message in messages]  # type: ignore[arg-type]
    held = Held(tickets=[an_ingest(services)] * 32, leases=leases, attempt=attempt(an_ingest(services)))
    keeper = LeaseKeeper()
    with keeper.keeping(held):
        time.sleep(2.1)
        began = clock.monotonic()
        keeper.renew_due()
        assert clock.monotonic() - began < 2
        assert not any(lease.due() or lease.overdue() for lease in leases)


class Slow:
    """A store whose every answer takes its time."""

    def __init__(self, queues: Queues, seconds: float) -> None:
        self._queues = queues
        self._seconds = seconds

    def update(self, *args: Any, **kwargs: Any) -> str:
        time.sleep(self._seconds)
        return self._queues.update(*args, **kwargs)
