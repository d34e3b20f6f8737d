"""The index says what the catalog says now, whatever tickets say, repeat or come late."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from shared.errors import Busy, Stopped
from shared.search import SEARCH
from shared.search.entries import rebuild
from shared.search.publication import POINTER
from shared.services import Services, build_services
from shared.settings import Settings
from shared.tickets import Index
from shared.videos import Video
from tests.workers.clock import HandClock
from tests.workers.faulty import Faulty
from tests.workers.making import a_video
from tests.workers.stores import open_stores
from workers.attempt import Attempt
from workers.handlers import index
from workers.scratch import Scratch


@pytest.fixture
def stores(tmp_path: Any, clock: HandClock) -> dict[str, Faulty]:
    settings = Settings(storage=f"local:{tmp_path / 'data'}", secret_key="for tests only")
    return {name: Faulty(store) for name, store in open_stores(settings, clock).items()}


@pytest.fixture
def services(tmp_path: Any, clock: HandClock, stores: dict[str, Any]) -> Services:
    settings = Settings(storage=f"local:{tmp_path / 'data'}", secret_key="for tests only")
    return build_services(settings, stores["blobs"], stores["queues"], stores["tables"], caller="test", clock=clock)


@pytest.fixture
def work(services: Services) -> Iterator[Callable[..., Attempt]]:
    """Work tickets about these videos as one batch."""
    scratch = Scratch(services.scratch)

    def handle(*videos: Video | str, stopped: bool = False) -> Attempt:
        tickets = [a_ticket(services, video) for video in videos]
        attempt = Attempt(services, tickets[0], scratch)
        if stopped:
            attempt.stop("draining")
        index.handle_batch(tickets, services, attempt)
        return attempt

    yield handle
    scratch.close()


def a_ticket(services: Services, video: Video | str) -> Index:
    video_id = video if isinstance(video, str) else video.id
    return Index(video=video_id, generation=1, made=services.clock.now())


def shown(services: Services, **fields: Any) -> Video:
    """A published video the index does not know yet."""
    given = {"state": "published", "title": "A walrus", "published": services.clock.now(), "revision": 1, **fields}
    video = a_video(services, **given)
    services.catalog.mark_active(video.id)
    return video


def change(services: Services, video: Video, **fields: Any) -> Video:
    return services.catalog.change(
        video.id, lambda now: msgspec.structs.replace(now, revision=now.revision + 1, **fields)
    )


def found(services: Services, text: str, **how: Any) -> list[str]:
    services.finder.refresh()
    return [hit.video for hit in services.finder.search(text, **how).hits]


def versions(services: Services) -> int:
    return int(msgspec.json.decode(services.blobs.get(SEARCH, POINTER))["number"])


def test_a_published_video_is_found_and_known_to_be(services: Services, work: Callable[..., Attempt]) -> None:
    video = shown(services)
    work(video)
    assert found(services, "walrus") == [video.id]
    known = services.catalog.get(video.id)
    assert known.indexed == known.revision == video.revision
    assert list(services.catalog.active()) == []


def test_a_playable_video_is_found_and_stays_active(services: Services, work: Callable[..., Attempt]) -> None:
    video = shown(services, state="playable", published=None)
    work(video)
    assert found(services, "walrus") == [video.id]
    assert list(services.catalog.active()) == [video.id]


@pytest.mark.parametrize("state", ["uploading", "queued", "processing", "failed", "deleted"])
def test_a_video_that_does_not_play_is_not_found(services: Services, work: Callable[..., Attempt], state: str) -> None:
    video = shown(services)
    work(video)
    work(change(services, video, state=state))
    assert found(services, "walrus") == []
    assert services.catalog.get(video.id).indexed == 2


def test_private_videos_are_found_by_their_owner(services: Services, work: Callable[..., Attempt]) -> None:
    video = shown(services, privacy="private", owner="anna")
    work(video)
    assert found(services, "walrus") == []
    assert found(services, "walrus", viewer="anna") == [video.id]


def test_a_batch_is_one_commit(services: Services, work: Callable[..., Attempt]) -> None:
    videos = [shown(services) for _ in range(8)]
    work(*videos, *videos)
    assert versions(services) == 1
    assert len(found(services, "walrus", limit=50)) == 8


def test_a_ticket_that_comes_late_or_twice_brings_no_old_text_back(
    services: Services, work: Callable[..., Attempt]
) -> None:
    video = shown(services)
    late = a_ticket(services, video)
    work(video)
    change(services, video, title="A seal")
    work(video)
    work(late.video)
    work(late.video)
    assert found(services, "walrus") == []
    assert found(services, "seal") == [video.id]


def test_what_the_index_knows_already_is_not_written_again(services: Services, work: Callable[..., Attempt]) -> None:
    video = shown(services)
    work(video)
    services.catalog.mark_active(video.id)
    work(video)
    assert versions(services) == 1
    assert list(services.catalog.active()) == [], "only what is done is marked"


def test_an_edit_made_while_a_worker_writes_is_not_taken_for_indexed(
    services: Services, stores: dict[str, Faulty], work: Callable[..., Attempt]
) -> None:
    video = shown(services)
    stores["blobs"].before("list_blobs", lambda: change(services, video, title="A seal"))
    work(video)
    now = services.catalog.get(video.id)
    assert (now.revision, now.indexed) == (2, 1)
    assert list(services.catalog.active()) == [video.id]
    work(video)
    assert found(services, "seal") == [video.id]


def test_a_worker_frozen_after_it_read_the_catalog_brings_no_old_text_back(
    services: Services, stores: dict[str, Faulty], work: Callable[..., Attempt]
) -> None:
    video = shown(services)
    work(video)
    change(services, video, title="A seal")

    def another_worker_passes() -> None:
        services.blobs.break_lease(SEARCH, "writer.lock")
        change(services, video, title="A whale")
        work(video)

    stores["blobs"].before("put", another_worker_passes)
    with pytest.raises(Busy):
        work(video)
    assert found(services, "seal") == []
    assert found(services, "whale") == [video.id]
    now = services.catalog.get(video.id)
    assert now.indexed == now.revision


def test_a_worker_told_to_stop_writes_nothing(services: Services, work: Callable[..., Attempt]) -> None:
    video = shown(services)
    with pytest.raises(Stopped):
        work(video, stopped=True)
    assert services.catalog.get(video.id).indexed == 0
    assert found(services, "walrus") == []


def test_a_ticket_about_nobody_removes_what_was_left_of_them(services: Services, work: Callable[..., Attempt]) -> None:
    video = shown(services)
    work(video)
    services.tables.delete("videos", video.id, "video")
    work(video)
    assert found(services, "walrus") == []


@pytest.mark.parametrize("harm", ["all gone", "pointer gone", "pointer unreadable", "another form", "files gone", "files changed"])
def test_an_index_that_is_lost_comes_back_whole_with_the_next_ticket(
    services: Services, work: Callable[..., Attempt], harm: str
) -> None:
    old = [shown(services) for _ in range(3)]
    work(*old)
    _harm(services, harm)
    new = shown(services)
    _on_another_machine(services, work, new)
    assert set(found(services, "walrus")) == {video.id for video in [*old, new]}


def _harm(services: Services, harm: str) -> None:
    blobs = services.blobs
    files = [blob.name for blob in blobs.list_blobs(SEARCH, prefix="files/").blobs]
    if harm in ("all gone", "pointer gone"):
        blobs.delete(SEARCH, POINTER)
    if harm == "pointer unreadable":
        blobs.put(SEARCH, POINTER, b"\x00{")
    if harm == "another form":
        pointer = msgspec.json.decode(blobs.get(SEARCH, POINTER))
        blobs.put(SEARCH, POINTER, msgspec.json.encode({**pointer, "form": pointer["form"] + 1}))
    for name in files if harm in ("all gone", "files gone") else []:
        blobs.delete(SEARCH, name)
    for name in files if harm == "files changed" else []:
        blobs.put(SEARCH, name, b"something else")


def _on_another_machine(services: Services, work: Callable[..., Attempt], video: Video) -> None:
    """One that has no files of its own to go on from."""
    for path in (services.scratch / "search" / "files").iterdir():
        path.unlink()
    work(video)


def test_a_rebuilt_index_holds_what_the_catalog_holds(services: Services, work: Callable[..., Attempt]) -> None:
    videos = [shown(services) for _ in range(3)]
    shown(services, state="failed")
    services.index_writer.apply([], [])
    assert rebuild(services.catalog, services.index_writer) == 3
    assert set(found(services, "walrus")) == {video.id for video in videos}


def test_search_goes_on_in_the_old_index_while_a_new_one_is_made(
    services: Services, work: Callable[..., Attempt], monkeypatch: pytest.MonkeyPatch
) -> None:
    work(shown(services))
    seen: list[int] = []

    def watched(video: Video) -> bool:
        seen.append(len(found(services, "walrus")))
        return True

    monkeypatch.setattr("shared.search.entries.belongs", watched)
    rebuild(services.catalog, services.index_writer)
    assert seen == [1]
    assert len(found(services, "walrus")) == 1
