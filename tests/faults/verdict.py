"""What must be true at the end of a video's life, whatever happened on the way."""

import re
from pathlib import Path

from shared.services import Services
from shared.tickets import POISON_SUFFIX, QUEUES
from shared.videos import MEDIA, SOURCES, Video
from tests.faults.life import TITLE, Lived
from workers.scratch import remove_abandoned
from workers.sweep import sweep


def check_end(world: Lived, services: Services) -> None:
    """One published video with one set of everything, and nothing else anywhere."""
    world.clock.forward(services.settings.garbage_after + 1)
    sweep(services)
    [video] = list(services.catalog.all())
    assert video.state == "published", (video.state, video.reason)
    assert list(services.catalog.active()) == []
    assert_queues_are_empty(services)
    assert_media_is_exactly_what_is_published(services, video)
    assert [blob.name for blob in services.blobs.list_blobs(SOURCES).blobs] == [video.source]
    assert list(services.blobs.list_uncommitted(SOURCES)) == []
    assert_indexed_once(services, video)
    assert [event.what for event in services.catalog.events(video.id)].count("published") == 1
    assert_told_once(services, video)
    assert_nothing_is_left_of_work_in_progress(services.scratch)


def assert_told_once(services: Services, video: Video) -> None:
    told = [event.type for event in services.audit.read(video.id)]
    assert told.count("video.published") == told.count("video.uploaded") == 1, told
    assert not services.untold.has_any(video.id)
    assert services.queues.depth("sub-audit").messages == 0


def assert_queues_are_empty(services: Services) -> None:
    for queue in QUEUES:
        assert services.queues.depth(queue).messages == 0, queue
        assert services.queues.depth(queue + POISON_SUFFIX).messages == 0, queue
    assert list(services.poison.list()) == []


def assert_media_is_exactly_what_is_published(services: Services, *videos: Video) -> None:
    blobs = {blob.name: blob for blob in services.blobs.list_blobs(MEDIA).blobs}
    assert set(blobs) == set().union(*(files_published(services, video) for video in videos))
    assert all(blob.size > 0 for blob in blobs.values())
    for video in videos:
        recorded = services.catalog.parts(video.id, video.generation)
        assert set(recorded) == {part.name for part in services.catalog.plan(video.id, video.generation).parts}
        assert all(part.failed is None for part in recorded.values())


def assert_indexed_once(services: Services, video: Video) -> None:
    assert video.indexed == video.revision
    assert [hit.video for hit in services.finder.search(TITLE).hits] == [video.id]
    assert services.finder.search(TITLE).total == 1


def assert_nothing_is_left_of_work_in_progress(scratch: Path) -> None:
    remove_abandoned(scratch)
    assert [path.name for path in scratch.iterdir() if path.name.startswith("worker-")] == []


def files_published(services: Services, video: Video) -> set[str]:
    """Every blob a player may ask for, found as a player finds it: each must exist to be read."""
    playback = video.playback
    assert playback.master
    assert playback.mp4
    assert playback.poster
    assert playback.storyboard
    lists = [f"{video.id}/{name}" for name in _uris(services.blobs.get(MEDIA, playback.master).decode())]
    board = services.blobs.get(MEDIA, playback.storyboard).decode()
    sheets = {f"{video.id}/{name}" for name in re.findall(r"^(\S+)#xywh", board, re.MULTILINE)}
    segments = {
        f"{playlist.rpartition('/')[0]}/{name}"
        for playlist in lists
        for name in _uris(services.blobs.get(MEDIA, playlist).decode())
    }
    return {playback.master, playback.mp4, playback.poster, playback.storyboard, *lists, *sheets, *segments}


def _uris(playlist: str) -> list[str]:
    lines = [line for line in playlist.split("\n") if line and not line.startswith("#")]
    return re.findall(r'URI="([^"]+)"', playlist) + lines
