"""A video deleted or tried again, by its owner or an operator: what follows, and what a crash in between leaves."""

from collections.abc import Callable

import msgspec
import pytest

from shared import decisions
from shared.errors import Busy, Conflict, NotFound
from shared.services import Services
from shared.tickets import Ingest, Ticket
from shared.videos import SOURCES, Part, Playback, Video
from tests.workers.clock import HandClock
from tests.workers.faulty import Faulty
from tests.workers.making import a_video, processing, sent, waiting
from workers.attempt import Attempt
from workers.handlers import ingest
from workers.sweep import sweep

STALLED = 120.0


def lacking(services: Services, state: str = "published") -> Video:
    """A video that plays, its pictures given up, at rest if it is published."""
    finished = Playback(generation=1, master="master.m3u8", parts=("first", "ladder", "mp4"))
    video = processing(services, "first", "ladder", "mp4", state=state, duration=2.0, playback=finished, indexed=1)
    services.catalog.record_part(video.id, 1, Part(name="pictures", attempt="-", failed="no picture"))
    if state == "published":
        services.catalog.mark_idle(video.id)
    return video


def parts_sent(services: Services) -> list[str]:
    return sorted(sent(services, "ingest") + sent(services, "transcode-normal"))


# deleted


def test_a_video_deleted_is_gone_and_its_erasure_on_its_way(services: Services) -> None:
    video = processing(services, "first", "ladder", state="published", indexed=1)
    services.catalog.mark_idle(video.id)
    assert decisions.delete(services, video.id) == services.catalog.get(video.id)
    assert services.catalog.get(video.id).state == "deleted"
    assert video.id in services.catalog.active()
    assert (sent(services, "housekeeping"), sent(services, "index")) == (["erase"], ["index"])


def test_the_blocks_of_an_upload_go_at_once(services: Services) -> None:
    video = a_video(services, state="uploading")
    services.blobs.stage_block(SOURCES, video.source, "MDAw", b"a block")
    decisions.delete(services, video.id)
    assert list(services.blobs.list_uncommitted(SOURCES)) == []


def test_deleting_twice_is_one_deletion(services: Services) -> None:
    video = a_video(services)
    first, second = (decisions.delete(services, video.id) for _ in range(2))
    assert first == second
    assert sorted(event.what for event in services.catalog.events(video.id)) == ["deleted", "opened"]


@pytest.mark.parametrize("operation", ["discard_uncommitted", "send"])
def test_a_deletion_cut_short_is_finished_by_the_sweep(
    services: Services, faulty: dict[str, Faulty], clock: HandClock, operation: str
) -> None:
    video = processing(services, "first", "ladder", "mp4", "pictures", state="published", indexed=1)
    services.catalog.mark_idle(video.id)
    faulty["queues" if operation == "send" else "blobs"].refuse(operation, Busy("busy"), times=2)  # its announcement too
    with pytest.raises(Busy):
        decisions.delete(services, video.id)
    clock.forward(STALLED)
    sweep(services)
    assert (sent(services, "housekeeping"), sent(services, "index")) == (["erase"], ["index"])


# tried again


def test_a_failed_video_is_worked_on_again(services: Services) -> None:
    video = a_video(services, state="failed", reason="Something went wrong", indexed=1)
    services.catalog.mark_idle(video.id)
    again = decisions.retry(services, video.id)
    assert (again.state, again.reason) == ("queued", None)
    assert again == services.catalog.get(video.id)
    assert video.id in services.catalog.active()
    assert sent(services, "ingest") == ["ingest"]


@pytest.mark.parametrize("state", ["published", "playable"])
def test_a_video_that_plays_is_given_the_part_it_lacks(
    services: Services, state: str, attempt: Callable[[Ticket], Attempt]
) -> None:
    video = lacking(services, state)
    assert decisions.retry(services, video.id).state == "playable"
    services.queues.clear("ingest")
    ticket = Ingest(video=video.id, generation=1, made=services.clock.now())
    ingest.handle(ticket, services, attempt(ticket))
    assert parts_sent(services) == ["pictures pictures"]


@pytest.mark.parametrize("state", ["uploading", "queued", "processing", "published", "deleted"])
def test_where_nothing_was_given_up_there_is_nothing_to_try_again(services: Services, state: str) -> None:
    video = processing(services, "first", "ladder", "mp4", "pictures", state=state)
    services.catalog.mark_idle(video.id)
    with pytest.raises(Conflict, match="nothing to try again"):
        decisions.retry(services, video.id)
    assert services.catalog.get(video.id) == video
    assert list(services.catalog.active()) == []
    assert waiting(services, "ingest") == 0


@pytest.mark.parametrize("decide", [decisions.delete, decisions.retry])
def test_nothing_is_decided_of_a_video_there_is_not(
    services: Services, decide: Callable[[Services, str], Video]
) -> None:
    with pytest.raises(NotFound):
        decide(services, "11111111111")
    assert list(services.catalog.active()) == []


@pytest.mark.parametrize("operation", ["upsert", "batch", "delete", "send"])
def test_a_retry_cut_short_goes_on_or_can_be_made_again(
    services: Services, faulty: dict[str, Faulty], clock: HandClock, operation: str
) -> None:
    video = lacking(services)
    faulty["queues" if operation == "send" else "tables"].refuse(operation, Busy("busy"), times=2 if operation == "send" else 1)
    with pytest.raises(Busy):
        decisions.retry(services, video.id)
    if operation == "send":
        clock.forward(STALLED)
        sweep(services)
        assert parts_sent(services) == ["pictures pictures"]
    else:
        decisions.retry(services, video.id)
        assert sent(services, "ingest") == ["ingest"]
    assert (services.catalog.get(video.id).state, "pictures" in services.catalog.parts(video.id, 1)) == ("playable", False)


def test_a_video_published_while_its_part_is_forgotten_is_opened_once_more(
    services: Services, faulty: dict[str, Faulty]
) -> None:
    video = lacking(services, "playable")

    def published() -> None:
        services.catalog.change(video.id, lambda now: msgspec.structs.replace(now, state="published"))

    faulty["tables"].before("delete", published)
    assert decisions.retry(services, video.id).state == "playable"


def test_of_two_who_try_again_at_once_both_are_told_the_same(services: Services, faulty: dict[str, Faulty]) -> None:
    video = lacking(services)
    faulty["tables"].before("delete", lambda: decisions.retry(services, video.id))
    assert decisions.retry(services, video.id) == services.catalog.get(video.id)
    assert "pictures" not in services.catalog.parts(video.id, 1)
