"""Batches worked side by side, queues by weight, outcomes as values, and work that takes too long."""

import threading
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from shared.errors import Stopped
from shared.services import Services
from shared.settings import Settings
from shared.tickets import Ticket, decode
from tests.workers.clock import HandClock
from tests.workers.making import an_ingest, waiting
from workers.attempt import Attempt
from workers.handlers.table import Handler
from workers.lease import LeaseKeeper
from workers.listener import Listener, Look
from workers.news import Began, News, Settled
from workers.outcomes import Outcome, RetryLater, SetAside
from workers.scratch import Scratch
from workers.turns import Turns

ONE = Turns({"ingest": 1})


def a_listener(services: Services, scratch: Scratch, handler: Handler, *, batch: int = 1, **options: Any) -> Listener:
    queues = options.pop("queues", {"ingest": 1})
    keeper = options.pop("keeper", LeaseKeeper())
    return Listener(
        services, queues, {"ingest": handler}, keeper=keeper, scratch=scratch, batch=batch, **options
    )


def saying(outcome: Outcome) -> Handler:
    return Handler(run=lambda tickets, services, attempt: outcome)


def test_up_to_32_tickets_are_worked_side_by_side(services: Services, scratch: Scratch) -> None:
    for _ in range(40):
        services.tickets.send(an_ingest(services))
    all_here = threading.Barrier(32, timeout=20)

    def run(tickets: Sequence[Ticket], services: Services, attempt: Attempt) -> None:
        all_here.wait()

    assert a_listener(services, scratch, Handler(run=run), batch=64).step(ONE) is Look.WORK
    assert waiting(services, "ingest") == 8


def test_each_of_a_batch_is_deleted_after_its_own_success_while_the_others_go_on(
    services: Services, scratch: Scratch
) -> None:
    slow, guilty = an_ingest(services), an_ingest(services)
    for ticket in [slow, guilty, *(an_ingest(services) for _ in range(8))]:
        services.tickets.send(ticket)
    seen: list[int] = []

    def run(tickets: Sequence[Any], services: Services, attempt: Attempt) -> None:
        if tickets[0].video == guilty.video:
            raise RuntimeError("this one")
        if tickets[0].video == slow.video:
            until = threading.Event()
            for _ in range(200):
                if waiting(services, "ingest") == 2:
                    break
                until.wait(0.05)
            seen.append(waiting(services, "ingest"))

    a_listener(services, scratch, Handler(run=run), batch=32).step(ONE)
    assert seen == [2], "the slow one and the guilty one are left while the slow one is at work"
    assert waiting(services, "ingest") == 1


def test_a_flood_of_urgent_work_leaves_the_others_their_share(
    services: Services, scratch: Scratch, clock: HandClock
) -> None:
    """High is never empty, and yet of every ten tickets one is of low and three are of normal."""
    weights = {"transcode-high": 6, "transcode-normal": 3, "transcode-low": 1}
    for queue in weights:
        for _ in range(100):
            services.queues.send(queue, "not read here")
    order: list[str] = []
    listener = a_listener(services, scratch, saying(SetAside(reason="seen")), queues=weights)
    turns = Turns(weights)
    for _ in range(100):
        assert listener.step(turns, lambda queue, size: order.append(queue)) is Look.WORK
    assert Counter(order) == {"transcode-high": 60, "transcode-normal": 30, "transcode-low": 10}
    low = [place for place, queue in enumerate(order) if queue == "transcode-low"]
    assert max(b - a for a, b in zip([-1, *low], low, strict=False)) <= 10


def test_a_handler_may_say_that_it_is_too_early(services: Services, scratch: Scratch, clock: HandClock) -> None:
    services.tickets.send(an_ingest(services))
    outcome = RetryLater(reason="the other side is closed", delay=timedelta(seconds=90), counted=False)
    listener = a_listener(services, scratch, saying(outcome))
    for times in range(1, 21):
        assert listener.step(ONE) is Look.WORK
        assert listener.step(ONE) is Look.NOTHING
        clock.forward(91)
        ticket = decode(services.queues.peek("ingest")[0].body)
        assert ticket.forgiven == times
        assert "the other side is closed" in ticket.history[-1]
    assert list(services.poison.list()) == []


def test_a_handler_may_set_its_ticket_aside(services: Services, scratch: Scratch) -> None:
    services.tickets.send(an_ingest(services))
    a_listener(services, scratch, saying(SetAside(reason="nobody can do this"))).step(ONE)
    assert [one.reason for one in services.poison.list()] == ["nobody can do this"]
    assert waiting(services, "ingest") == 0


def test_work_that_takes_too_long_is_stopped_and_the_try_counts(
    services: Services, scratch: Scratch, clock: HandClock, settings: Settings
) -> None:
    services.tickets.send(an_ingest(services))
    keeper = LeaseKeeper()

    def run(tickets: Sequence[Ticket], services: Services, attempt: Attempt) -> None:
        for _ in range(12):
            clock.forward(5)
            keeper.renew_due()
            keeper.stop_overdue()
            attempt.check()
        raise AssertionError("it was never stopped")

    listener = a_listener(services, scratch, Handler(run=run, deadline=50), keeper=keeper)
    for _ in range(settings.max_tries):
        assert listener.step(ONE) is Look.WORK
        clock.forward(1000)
    [poisoned] = services.poison.list()
    assert "not done after 50 s" in poisoned.reason


def test_a_deadline_grows_with_what_there_is_to_do(services: Services, scratch: Scratch, clock: HandClock) -> None:
    services.tickets.send(an_ingest(services))
    keeper = LeaseKeeper()

    def run(tickets: Sequence[Ticket], services: Services, attempt: Attempt) -> None:
        attempt.allow(100)
        for _ in range(12):
            clock.forward(5)
            keeper.renew_due()
            keeper.stop_overdue()
            attempt.check()

    a_listener(services, scratch, Handler(run=run, deadline=50), keeper=keeper).step(ONE)
    assert waiting(services, "ingest") == 0


def test_watchers_learn_of_each_try(
    services: Services, scratch: Scratch, clock: HandClock
) -> None:
    services.tickets.send(an_ingest(services))
    clock.forward(7)
    news: list[News] = []
    run = Handler(run=lambda tickets, services, attempt: clock.forward(3))
    a_listener(services, scratch, run, tell=news.append).step(ONE)
    [began] = [one for one in news if isinstance(one, Began)]
    [settled] = [one for one in news if isinstance(one, Settled)]
    assert (began.number, began.waited) == (1, 7.0)
    assert (settled.kind, settled.outcome, settled.seconds) == ("ingest", "done", 3.0)


@pytest.mark.parametrize("error", [Stopped("draining"), RuntimeError("odd")])
def test_a_try_given_back_says_whether_it_counts(
    services: Services, scratch: Scratch, error: Exception
) -> None:
    services.tickets.send(an_ingest(services))
    news: list[News] = []

    def run(tickets: Sequence[Ticket], services: Services, attempt: Attempt) -> None:
        raise error

    a_listener(services, scratch, Handler(run=run), tell=news.append).step(ONE)
    [settled] = [one for one in news if isinstance(one, Settled)]
    assert (settled.outcome, settled.counted) == ("retried", isinstance(error, RuntimeError))
    assert str(error) in settled.reason
