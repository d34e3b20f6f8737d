"""What an operator can do with tickets set aside."""

import threading
from contextlib import suppress
from datetime import timedelta

import msgspec
import pytest

from shared.claimcheck import CLAIMS
from shared.errors import Busy, Conflict, Invalid, NotFound
from shared.poison import POISON, Poisoned
from shared.queues import Message
from shared.reopening import reopen
from shared.services import Services
from shared.tables import MAX_BYTES
from shared.tickets import Ingest, decode, encode
from shared.videos import Part
from tests.workers.clock import HandClock
from tests.workers.conftest import Worker
from tests.workers.faulty import Faulty
from tests.workers.making import a_video, an_encode, an_ingest, processing, waiting
from workers.sweep import sweep


def set_aside(services: Services, body: str, queue: str = "ingest") -> Poisoned:
    sent = services.queues.send(queue, body)
    [message] = [one for one in services.queues.receive(queue, count=32) if one.id == sent.id]
    poisoned = services.poison.set_aside(queue, message, "it never worked", ("first", "second"))
    services.queues.delete(queue, message.id, message.receipt or "")
    return poisoned


def test_the_record_keeps_reason_history_tries_and_the_raw_body(services: Services) -> None:
    body = "\u2603 no ticket" * 3000
    poisoned = set_aside(services, body)
    shown = services.poison.show(poisoned.id)
    assert (shown.reason, shown.history, shown.tries, shown.body) == (
        "it never worked", ("first", "second"), 1, body
    )


def a_large_body(services: Services) -> str:
    """A ticket of 200 KiB with a field of a later version, as it might be written by another program."""
    fields = msgspec.to_builtins(an_ingest(services))
    return msgspec.json.encode({**fields, "remarks": "é\u2603" * (40 * 1024)}).decode()


def blobs_left(services: Services) -> list[str]:
    """Bodies in blobs: of tickets set aside, and of those that travel."""
    found = [blob.name for blob in services.blobs.list_blobs(POISON).blobs]
    with suppress(NotFound):  # where no large ticket ever travelled
        found += [blob.name for blob in services.blobs.list_blobs(CLAIMS).blobs]
    return found


def test_a_body_too_large_for_a_row_is_kept_to_the_byte(services: Services) -> None:
    body = a_large_body(services)
    assert len(body.encode()) >= 200 * 1024
    poisoned = set_aside(services, body)
    assert services.poison.show(poisoned.id).body == body
    assert [one.id for one in services.poison.list()] == [poisoned.id]
    assert blobs_left(services) == [poisoned.id]


@pytest.mark.parametrize("size", [MAX_BYTES, MAX_BYTES + 1])
def test_a_body_of_64_kib_needs_no_blob_and_one_byte_more_does(services: Services, size: int) -> None:
    poisoned = set_aside(services, "x" * size)
    assert services.poison.show(poisoned.id).body == "x" * size
    assert len(blobs_left(services)) == (size > MAX_BYTES)
    services.poison.purge(poisoned.id)
    assert blobs_left(services) == []


def test_a_worker_sets_aside_what_is_large_and_no_ticket(services: Services, worker: Worker) -> None:
    services.queues.send("ingest", "x" * 200_000)
    assert worker.work(lambda tickets: None)
    [poisoned] = services.poison.list()
    assert services.poison.show(poisoned.id).body == "x" * 200_000
    assert (waiting(services, "ingest"), blobs_left(services)) == (0, [poisoned.id])


def test_a_large_ticket_is_replayed_as_it_came_and_leaves_no_blob(services: Services) -> None:
    body = a_large_body(services)
    services.poison.replay(set_aside(services, body).id)
    [message] = services.queues.receive("ingest")
    assert message.body == body
    services.queues.delete("ingest", message.id, message.receipt or "")
    assert (list(services.poison.list()), blobs_left(services)) == ([], [])


def test_only_the_tries_forgiven_change_in_a_replay(services: Services) -> None:
    fields = {**msgspec.json.decode(encode(an_ingest(services, forgiven=7))), "remarks": "of a later version"}
    services.poison.replay(set_aside(services, msgspec.json.encode(fields).decode()).id)
    [message] = services.queues.receive("ingest")
    assert msgspec.json.decode(message.body) == {**fields, "forgiven": 0}


def test_purging_leaves_no_blob(services: Services) -> None:
    first, second = set_aside(services, a_large_body(services)), set_aside(services, "x" * 200_000)
    services.poison.purge(first.id)
    assert blobs_left(services) == [second.id]
    assert services.poison.purge_all() == 1
    assert blobs_left(services) == []


def test_setting_a_large_ticket_aside_again_leaves_one_of_each(services: Services, faulty: dict[str, Faulty]) -> None:
    body = a_large_body(services)
    services.queues.send("ingest", body)
    [message] = services.queues.receive("ingest")
    faulty["queues"].refuse("send", Busy("busy"))
    with pytest.raises(Busy):
        services.poison.set_aside("ingest", message, "it never worked")
    poisoned = services.poison.set_aside("ingest", message, "it never worked")
    assert services.poison.show(poisoned.id).body == body
    assert waiting(services, "ingest-poison") == 1
    assert poisoned.id in blobs_left(services)


def test_a_body_that_lost_its_row_is_swept_and_one_with_a_row_stays(
    services: Services, faulty: dict[str, Faulty], clock: HandClock
) -> None:
    kept, purged = (set_aside(services, a_large_body(services)) for _ in range(2))
    faulty["blobs"].refuse("delete", Busy("busy"))
    with pytest.raises(Busy):
        services.poison.purge(purged.id)
    assert sweep(services) == []
    clock.forward(services.settings.garbage_after)
    assert "remove the body of a ticket" in [finding.what for finding in sweep(services)]
    assert blobs_left(services) == [kept.id]


def test_a_row_whose_body_is_gone_can_only_be_purged(services: Services) -> None:
    poisoned = set_aside(services, a_large_body(services))
    services.blobs.delete(POISON, poisoned.id)
    with pytest.raises(NotFound):
        services.poison.replay(poisoned.id)
    services.poison.purge(poisoned.id)
    assert list(services.poison.list()) == []


def test_the_list_can_be_asked_by_queue(services: Services) -> None:
    set_aside(services, "one", "ingest")
    set_aside(services, "two", "index")
    assert [poisoned.body for poisoned in services.poison.list("index")] == ["two"]
    assert len(list(services.poison.list())) == 2


def test_a_replayed_ticket_is_as_new_and_nothing_of_it_stays_aside(services: Services) -> None:
    poisoned = set_aside(services, encode(an_ingest(services, forgiven=7)))
    services.poison.replay(poisoned.id)
    [message] = services.queues.receive("ingest")
    assert message.dequeue_count == 1
    assert decode(message.body).forgiven == 0
    assert list(services.poison.list()) == []
    assert waiting(services, "ingest-poison") == 0


def test_a_hundred_are_each_replayed_once_by_two_operators_at_the_same_time(services: Services) -> None:
    wanted = {set_aside(services, encode(an_ingest(services))).id for _ in range(100)}

    def replay_all() -> None:
        for poison_id in sorted(wanted):
            try:
                services.poison.replay(poison_id)
            except (NotFound, Conflict):
                continue

    operators = [threading.Thread(target=replay_all) for _ in range(2)]
    for operator in operators:
        operator.start()
    for operator in operators:
        operator.join()
    videos = []
    while messages := services.queues.receive("ingest", count=32):
        videos += [decode(message.body).video for message in messages]  # type: ignore[attr-defined]
    assert len(videos) == len(set(videos)) == 100
    assert list(services.poison.list()) == []
    assert waiting(services, "ingest-poison") == 0


def test_what_is_no_ticket_cannot_be_replayed_and_stays(services: Services) -> None:
    poisoned = set_aside(services, "no ticket")
    with pytest.raises(Invalid):
        services.poison.replay(poisoned.id)
    assert services.poison.show(poisoned.id).body == "no ticket"


def test_a_replay_cut_short_loses_nothing_and_can_be_made_again_a_minute_later(
    services: Services, faulty: dict[str, Faulty], clock: HandClock
) -> None:
    poisoned = set_aside(services, encode(an_ingest(services)))
    faulty["queues"].refuse("send", Busy("busy"))
    with pytest.raises(Busy):
        services.poison.replay(poisoned.id)
    with pytest.raises(Conflict):
        services.poison.replay(poisoned.id)
    clock.forward(60)
    services.poison.replay(poisoned.id)
    assert waiting(services, "ingest") == 1


def test_purging_drops_record_and_announcement(services: Services) -> None:
    kept, dropped = set_aside(services, "kept"), set_aside(services, "dropped")
    services.poison.purge(dropped.id)
    assert [poisoned.id for poisoned in services.poison.list()] == [kept.id]
    assert waiting(services, "ingest-poison") == 1


def test_purging_finds_an_announcement_whose_receipt_is_dead(services: Services) -> None:
    kept, dropped = set_aside(services, "kept"), set_aside(services, "dropped")
    for message in services.queues.receive("ingest-poison", count=32):
        give_back(services, message)
    services.poison.purge(dropped.id)
    [left] = services.queues.peek("ingest-poison", count=32)
    assert kept.id in left.body


def give_back(services: Services, message: Message) -> None:
    services.queues.update("ingest-poison", message.id, message.receipt or "", visibility=timedelta(0))


def test_everything_can_be_purged_at_once(services: Services) -> None:
    for number in range(40):
        set_aside(services, f"number {number}")
    assert services.poison.purge_all() == 40
    assert list(services.poison.list()) == []
    assert waiting(services, "ingest-poison") == 0


def test_an_unknown_id_is_not_found(services: Services) -> None:
    with pytest.raises(NotFound):
        services.poison.show("ingest/nothing")
    with pytest.raises(Invalid):
        services.poison.show("nothing")


def test_replaying_opens_a_failed_video_for_work_again(services: Services) -> None:
    video = a_video(services, state="failed", reason="Something went wrong")
    services.catalog.mark_idle(video.id)
    poisoned = set_aside(services, encode(an_ingest(services, video)))
    services.poison.replay(poisoned.id)
    opened = services.catalog.get(video.id)
    assert (opened.state, opened.reason) == ("queued", None)
    assert video.id in services.catalog.active()


def test_replaying_a_part_given_up_lets_it_be_made_again(services: Services) -> None:
    video = processing(services, "first", "ladder", "mp4", state="published", duration=2.0)
    services.catalog.record_part(video.id, 1, Part(name="pictures", attempt="-", failed="no picture"))
    poisoned = set_aside(services, encode(an_encode(services, video, "pictures")))
    services.poison.replay(poisoned.id)
    assert "pictures" not in services.catalog.parts(video.id, 1)
    assert services.catalog.get(video.id).state == "processing"


def test_a_deleted_video_is_never_opened_again(services: Services) -> None:
    video = a_video(services, state="deleted")
    reopen(services.catalog, video.id)
    assert services.catalog.get(video.id).state == "deleted"


def test_a_published_video_with_nothing_missing_is_left_alone(services: Services) -> None:
    video = processing(services, "first", "ladder", "mp4", "pictures", state="published")
    reopen(services.catalog, video.id)
    assert services.catalog.get(video.id) == video


def test_replaying_a_ticket_about_no_video_needs_none(services: Services) -> None:
    poisoned = set_aside(services, encode(an_ingest(services)))
    assert isinstance(services.poison.replay(poisoned.id), Ingest)
