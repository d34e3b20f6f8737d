"""Take, run, settle."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from shared.errors import Busy, Full, Invalid, Permanent, Stopped
from shared.services import Services
from shared.settings import Settings
from shared.tickets import Ticket, decode, encode
from tests.workers.clock import HandClock
from tests.workers.conftest import Worker
from tests.workers.faulty import Faulty
from tests.workers.making import a_plan, a_video, an_encode, an_ingest, processing, waiting
from workers.listener import Look
from workers.turns import Turns


def fail_with(error: Exception) -> Any:
    def run(tickets: Sequence[Ticket]) -> None:
        raise error

    return run


def nothing(tickets: Sequence[Ticket]) -> None:
    return


def the_ticket(services: Services, queue: str = "ingest") -> Ticket:
    [message] = services.queues.peek(queue)
    return decode(message.body)


def test_a_ticket_is_deleted_after_its_handler_not_before(services: Services, worker: Worker) -> None:
    services.tickets.send(an_ingest(services))
    seen: list[int] = []
    assert worker.work(lambda tickets: seen.append(waiting(services, "ingest")))
    assert seen == [1]
    assert waiting(services, "ingest") == 0


def test_a_failed_ticket_comes_back_later_each_time_and_then_is_set_aside(
    services: Services, worker: Worker, clock: HandClock, settings: Settings
) -> None:
    services.tickets.send(an_ingest(services))
    waits = []
    for _ in range(settings.max_tries):
        wait = 0
        while not worker.work(fail_with(RuntimeError("odd"))):
            clock.forward(0.1)
            wait += 1
        waits.append(wait)
    assert waits[0] == 0
    assert waits[1] >= 7
    assert waits[2] > waits[1]
    clock.forward(3600)
    assert not worker.work(nothing)
    [poisoned] = services.poison.list()
    assert poisoned.tries == settings.max_tries
    assert "RuntimeError: odd" in poisoned.reason
    assert len(poisoned.history) == settings.max_tries - 1


@pytest.mark.parametrize("error", [Busy("busy"), Full("full"), Stopped("draining")])
def test_tries_that_were_nobodys_fault_never_set_a_ticket_aside(
    services: Services, worker: Worker, clock: HandClock, settings: Settings, error: Exception
) -> None:
    services.tickets.send(an_ingest(services))
    for _ in range(settings.max_tries * 4):
        assert worker.work(fail_with(error))
        clock.forward(100)
    assert the_ticket(services).forgiven == settings.max_tries * 4
    assert list(services.poison.list()) == []
    assert worker.work(nothing)
    assert waiting(services, "ingest") == 0


def test_stopped_work_is_visible_again_at_once(services: Services, worker: Worker) -> None:
    services.tickets.send(an_ingest(services))
    worker.work(fail_with(Stopped("draining")))
    assert len(services.queues.receive("ingest")) == 1


def test_forgiven_tries_and_counted_ones_are_told_apart(
    services: Services, worker: Worker, clock: HandClock, settings: Settings
) -> None:
    services.tickets.send(an_ingest(services))
    for number in range(2 * settings.max_tries - 1):
        worker.work(fail_with(Busy("busy") if number % 2 else RuntimeError("odd")))
        clock.forward(1000)
    assert waiting(services, "ingest") == 0
    assert len(list(services.poison.list())) == 1


def test_a_ticket_that_kills_its_worker_is_bounded_too(
    services: Services, worker: Worker, clock: HandClock, settings: Settings
) -> None:
    video = a_video(services)
    services.tickets.send(an_ingest(services, video))
    for _ in range(settings.max_tries):
        assert services.queues.receive("ingest", visibility=timedelta(seconds=1))
        clock.forward(2)
    ran: list[int] = []
    assert worker.work(lambda tickets: ran.append(1))
    assert ran == []
    assert len(list(services.poison.list())) == 1
    assert waiting(services, "ingest") == 0
    failed = services.catalog.get(video.id)
    assert failed.state == "failed"
    assert failed.reason
    assert "you can try again later" in failed.reason


def test_a_permanent_fault_fails_the_video_at_once_with_its_sentence(services: Services, worker: Worker) -> None:
    video = a_video(services)
    services.tickets.send(an_ingest(services, video))
    worker.work(fail_with(Permanent("this is a web page, not a video")))
    failed = services.catalog.get(video.id)
    assert (failed.state, failed.reason) == ("failed", "this is a web page, not a video")
    assert waiting(services, "ingest") == 0
    assert list(services.poison.list()) == []


def test_a_permanent_fault_in_a_part_that_is_not_vital_leaves_the_video_alone(
    services: Services, worker: Worker
) -> None:
    video = processing(services)
    services.tickets.send(an_encode(services, video, "pictures"))
    worker.work(fail_with(Permanent("no picture of this video could be decoded")))
    assert services.catalog.get(video.id).state == "processing"
    assert services.catalog.parts(video.id, 1)["pictures"].failed == "no picture of this video could be decoded"
    assert waiting(services, "ingest") == 0


def test_a_failure_that_cannot_be_recorded_now_is_recorded_later(
    services: Services, worker: Worker, faulty: dict[str, Faulty], clock: HandClock
) -> None:
    video = a_video(services)
    services.tickets.send(an_ingest(services, video))
    faulty["tables"].refuse("batch", Full("full"))
    worker.work(fail_with(Permanent("not a video")))
    assert services.catalog.get(video.id).state == "queued"
    clock.forward(100)
    worker.work(fail_with(Permanent("not a video")))
    assert services.catalog.get(video.id).state == "failed"


@pytest.mark.parametrize(
    "body",
    [
        "\x00\x01random bytes \ufffd",
        "{",
        "",
        '{"schema": "matinee.ticket"',
        '{"schema": "matinee.ticket", "version": 99, "kind": "ingest"}',
        '{"schema": "matinee.ticket", "version": 1, "kind": "dance", "made": "2030-01-01T00:00:00Z"}',
        '{"schema": "matinee.ticket", "version": 1, "kind": "ingest", "made": "yesterday"}',
        "AAAA" * 12_000,
        "[]",
        "null",
    ],
)
def test_a_body_that_cannot_be_read_is_set_aside_whole_and_the_loop_goes_on(
    services: Services, worker: Worker, body: str
) -> None:
    services.queues.send("ingest", body)
    services.tickets.send(an_ingest(services))
    ran: list[int] = []
    for _ in range(2):
        assert worker.work(lambda tickets: ran.append(1))
    assert ran == [1]
    [poisoned] = services.poison.list("ingest")
    assert poisoned.body == body
    assert waiting(services, "ingest") == 0


def test_a_failed_receive_is_not_an_empty_queue_but_the_next_is_asked(
    services: Services, worker: Worker, faulty: dict[str, Faulty]
) -> None:
    services.tickets.send(an_ingest(services))
    faulty["queues"].refuse("receive", Busy("busy"))
    listener = worker.listener(nothing, queues=["index", "ingest"])
    assert listener.step(Turns({"index": 2, "ingest": 1})) is Look.WORK
    assert waiting(services, "ingest") == 0


def test_a_delete_that_fails_is_tried_again_while_the_lease_holds(
    services: Services, worker: Worker, faulty: dict[str, Faulty]
) -> None:
    services.tickets.send(an_ingest(services))
    faulty["queues"].refuse("delete", Busy("busy"))
    worker.work(nothing)
    assert waiting(services, "ingest") == 0


def test_a_lost_reply_of_a_delete_is_a_delete(
    services: Services, worker: Worker, faulty: dict[str, Faulty]
) -> None:
    services.tickets.send(an_ingest(services))
    faulty["queues"].lose_reply("delete", Busy("the reply was lost"))
    worker.work(nothing)
    assert waiting(services, "ingest") == 0


def test_a_batch_queue_gives_up_to_32_tickets_at_once(services: Services, worker: Worker) -> None:
    for _ in range(40):
        services.tickets.send(an_ingest(services))
    sizes: list[int] = []
    while worker.work(lambda tickets: sizes.append(len(tickets)), batch=32):
        pass
    assert sizes == [32, 8]
    assert waiting(services, "ingest") == 0


def test_a_batch_that_failed_is_tried_one_by_one_so_that_only_the_guilty_is_set_aside(
    services: Services, worker: Worker, clock: HandClock
) -> None:
    guilty = an_ingest(services)
    for ticket in [guilty, *(an_ingest(services) for _ in range(9))]:
        services.tickets.send(ticket)
    done: list[str] = []

    def run(tickets: Sequence[Any]) -> None:
        if any(ticket.video == guilty.video for ticket in tickets):
            raise RuntimeError("this one")
        done.extend(ticket.video for ticket in tickets)

    for _ in range(10):
        while worker.work(run, batch=32):
            pass
        clock.forward(1000)
    assert len(done) == 9
    assert [decode(poisoned.body).video for poisoned in services.poison.list()] == [guilty.video]  # type: ignore[attr-defined]
    assert waiting(services, "ingest") == 0


def test_every_ticket_of_a_batch_is_held_while_the_first_is_worked(
    services: Services, worker: Worker, clock: HandClock
) -> None:
    for ticket in [an_ingest(services) for _ in range(3)]:
        services.queues.send("ingest", encode(ticket))
    for message in services.queues.receive("ingest", count=3):
        services.queues.update("ingest", message.id, message.receipt or "", visibility=timedelta(0))
    held: list[int] = []
    worker.work(lambda tickets: held.append(len(worker.keeper.held())), batch=32)
    assert held == [3, 3, 3]


def test_nothing_is_received_while_the_disk_is_nearly_full(
    services: Services, worker: Worker, settings: Settings
) -> None:
    listener = worker.listener(nothing, queues=["ingest"])
    services.tickets.send(an_ingest(services))
    object.__setattr__(settings, "min_free", 1 << 62)
    assert listener.step(Turns({"ingest": 1})) is Look.UNKNOWN
    object.__setattr__(settings, "min_free", 0)
    assert listener.step(Turns({"ingest": 1})) is Look.WORK


def test_a_set_aside_cut_short_leaves_one_record_one_announcement_and_no_original(
    services: Services, worker: Worker, faulty: dict[str, Faulty], clock: HandClock
) -> None:
    services.queues.send("ingest", "no ticket")
    for operation in ("insert", "upsert"):
        faulty["tables"].lose_reply(operation, Busy("the reply was lost"))
    faulty["queues"].lose_reply("send", Busy("the reply was lost"))
    for _ in range(6):
        worker.work(nothing)
        clock.forward(60)
    assert len(list(services.poison.list())) == 1
    assert waiting(services, "ingest-poison") == 1
    assert waiting(services, "ingest") == 0


def test_a_ticket_the_handler_calls_invalid_is_counted_and_not_taken_for_unreadable(
    services: Services, worker: Worker
) -> None:
    services.tickets.send(an_ingest(services))
    worker.work(fail_with(Invalid("bad argument")))
    assert list(services.poison.list()) == []
    assert waiting(services, "ingest") == 1


def test_a_video_with_all_its_work_given_up_says_why(services: Services, worker: Worker, clock: HandClock) -> None:
    video = processing(services, plan=a_plan())
    services.tickets.send(an_encode(services, video, "first"))
    for _ in range(5):
        worker.work(fail_with(RuntimeError("odd")))
        clock.forward(1000)
    failed = services.catalog.get(video.id)
    assert failed.state == "failed"
    assert failed.reason
    assert services.catalog.parts(video.id, 1)["first"].failed == failed.reason
