"""One writer at a time; files, then the pointer; what nobody can be reading any more is removed."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from shared.blobs import Blobs
from shared.errors import Busy, Full
from shared.search import SEARCH
from shared.search.files import LocalFiles
from shared.search.finder import Finder
from shared.search.publication import FILES, GRACE, POINTER, Version
from shared.search.writer import IndexWriter
from tests.search.shelf import Shelf, a_document, several
from tests.workers.clock import HandClock
from tests.workers.faulty import Faulty


def published(blobs: Blobs) -> Version:
    return msgspec.json.decode(blobs.get(SEARCH, POINTER), type=Version)


def files(blobs: Blobs) -> set[str]:
    return {blob.name for blob in blobs.list_blobs(SEARCH, prefix=FILES).blobs}


def test_a_batch_is_one_version(shelf: Shelf, blobs: Blobs) -> None:
    shelf.writer.apply(several(32), [])
    assert published(blobs).number == 1
    assert published(blobs).documents == 32


def test_a_document_replaces_what_its_video_had(shelf: Shelf) -> None:
    shelf.put(a_document(title="Walrus"))
    shelf.put(a_document(title="Seal", revision=2))
    assert shelf.found("walrus") == []
    assert shelf.found("seal") == ["one"]
    assert shelf.finder.newest().total == 1


def test_a_removed_video_is_no_longer_found(shelf: Shelf) -> None:
    shelf.put(*several(3))
    shelf.remove("v1", "never there")
    assert set(shelf.found("film")) == {"v0", "v2"}


def test_putting_and_removing_again_changes_nothing(shelf: Shelf, blobs: Blobs) -> None:
    for _ in range(3):
        shelf.writer.apply(several(4), ["v9"])
    assert published(blobs).documents == 4


def test_a_second_writer_is_told_to_come_back_later(a_writer: Callable[[str], IndexWriter]) -> None:
    one, other = a_writer("one"), a_writer("other")
    with one.turn(), pytest.raises(Busy):
        other.apply([a_document()], [])
    other.apply([a_document()], [])


def test_writers_on_one_machine_share_no_working_copy(
    a_writer: Callable[[str], IndexWriter], a_finder: Callable[[str], Finder]
) -> None:
    for number, writer in enumerate([a_writer("one"), a_writer("one"), a_writer("one")]):
        writer.apply([a_document(f"v{number}", title="Walrus")], [])
    assert a_finder("web").search("walrus").total == 3


def test_a_writer_with_an_empty_folder_goes_on_from_what_is_published(
    shelf: Shelf, a_writer: Callable[[str], IndexWriter]
) -> None:
    shelf.put(a_document("one", title="Walrus"))
    a_writer("new machine").apply([a_document("two", title="Walrus")], [])
    shelf.finder.refresh()
    assert set(shelf.found("walrus")) == {"one", "two"}


def test_a_killed_writer_makes_the_next_wait_no_longer_than_its_lease(
    blobs: Blobs, clock: HandClock, a_writer: Callable[[str], IndexWriter]
) -> None:
    writer = a_writer("one")
    blobs.acquire_lease(SEARCH, "writer.lock", seconds=15)
    with pytest.raises(Busy):
        writer.apply([a_document()], [])
    clock.forward(15.1)
    writer.apply([a_document()], [])


def test_a_writer_frozen_past_its_lease_publishes_nothing(
    shelf: Shelf, clock: HandClock, blobs: Blobs, a_writer: Callable[[str], IndexWriter]
) -> None:
    other = a_writer("other")
    with shelf.writer.turn() as turn:
        blobs.break_lease(SEARCH, "writer.lock")
        other.apply([a_document(title="New text", revision=2)], [])
        with pytest.raises(Busy):
            turn.apply([a_document(title="Old text")], [])
    shelf.finder.refresh()
    assert shelf.found("new") == ["one"]
    assert shelf.found("old") == []


def test_even_a_turn_that_finds_nothing_to_do_fences_off_the_one_before(
    shelf: Shelf, blobs: Blobs, a_writer: Callable[[str], IndexWriter]
) -> None:
    """The frozen one was about to put a video that has failed, and is marked as known to the index, meanwhile."""
    other = a_writer("other")
    shelf.put(a_document("first"))
    with shelf.writer.turn() as turn:
        blobs.break_lease(SEARCH, "writer.lock")
        other.apply([], ["one"])
        with pytest.raises(Busy):
            turn.apply([a_document(title="Walrus")], [])
    shelf.finder.refresh()
    assert shelf.found("walrus") == []


def test_the_pointer_is_written_after_the_files_it_names(blobs: Blobs, clock: HandClock, tmp_path: Path) -> None:
    watched = Faulty(blobs)
    writer = IndexWriter(watched, clock, tmp_path / "one")  # type: ignore[arg-type]
    writer.apply([a_document("one")], [])
    before = published(blobs)
    watched.refuse("put", Busy("the store is busy"))
    with pytest.raises(Busy):
        writer.apply([a_document("two")], [])
    assert published(blobs) == before
    writer.apply([a_document("two")], [])
    assert set(published(blobs).files.values()) <= files(blobs)
    assert published(blobs).documents == 2


def test_a_reply_lost_at_the_pointer_does_no_harm(
    blobs: Blobs, clock: HandClock, tmp_path: Path, a_finder: Callable[[str], Finder]
) -> None:
    store = Faulty(blobs)
    writer = IndexWriter(store, clock, tmp_path / "one")  # type: ignore[arg-type]
    writer.apply([a_document("one", title="Walrus")], [])
    store.lose_reply("list_blobs", Busy("too late to matter"))
    writer.apply([a_document("two", title="Walrus")], [])
    writer.apply([a_document("two", title="Walrus")], [])
    assert a_finder("web").search("walrus").total == 2


def test_files_stay_for_a_while_after_the_pointer_has_moved_on(shelf: Shelf, blobs: Blobs, clock: HandClock) -> None:
    shelf.writer.apply(several(3), [])
    first = set(published(blobs).files.values())
    clock.forward(GRACE.total_seconds() * 5)
    shelf.writer.apply([a_document()], [])
    assert first <= files(blobs), "old as they are, they were in use until just now"
    clock.forward(GRACE.total_seconds() - 60)
    shelf.writer.apply([a_document()], [])
    assert first <= files(blobs)
    clock.forward(120)
    shelf.writer.apply([a_document()], [])
    assert not first & files(blobs) - set(published(blobs).files.values())


def test_files_a_dead_writer_never_published_are_removed(shelf: Shelf, blobs: Blobs, clock: HandClock) -> None:
    blobs.put(SEARCH, f"{FILES}left-behind", b"never named")
    shelf.writer.apply([a_document()], [])
    assert f"{FILES}left-behind" in files(blobs)
    clock.forward(GRACE.total_seconds() + 1)
    shelf.writer.apply([a_document()], [])
    assert f"{FILES}left-behind" not in files(blobs)


def test_what_the_pointer_names_is_always_there(shelf: Shelf, blobs: Blobs, clock: HandClock) -> None:
    for number in range(25):
        clock.forward(GRACE.total_seconds() / 3)
        shelf.writer.apply([a_document(f"v{number % 7}", title=f"Film {number}")], [f"v{(number + 3) % 7}"])
        assert set(published(blobs).files.values()) <= files(blobs)
    assert len(files(blobs)) < 40


def test_a_remover_that_was_frozen_takes_nothing_away_that_was_published_since(
    blobs: Blobs, clock: HandClock, tmp_path: Path, a_writer: Callable[[str], IndexWriter]
) -> None:
    store = Faulty(blobs)
    frozen = IndexWriter(store, clock, tmp_path / "frozen")  # type: ignore[arg-type]
    other = a_writer("other")
    frozen.apply([a_document("one")], [])

    def sleep_through_a_publication() -> None:
        blobs.break_lease(SEARCH, "writer.lock")
        other.apply([a_document("two")], [])
        clock.forward(GRACE.total_seconds() * 3)

    store.before("list_blobs", sleep_through_a_publication)
    frozen.apply([a_document("three")], [])
    assert set(published(blobs).files.values()) <= files(blobs)


def test_a_full_disk_is_named(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: LocalFiles, path: Path) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LocalFiles, "adopt", refuse)
    with pytest.raises(Full):
        shelf.writer.apply([a_document()], [])


def test_a_damaged_working_copy_is_made_anew_in_the_next_turn(shelf: Shelf, tmp_path: Path) -> None:
    shelf.writer.apply(several(5), [])
    for path in (tmp_path / "worker" / "files").iterdir():
        path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(Busy):
        shelf.writer.apply([a_document("one", title="Film")], [])
    shelf.put(a_document("one", title="Film"))
    assert shelf.ask("film").total == 6


def test_copies_of_killed_writers_are_removed(shelf: Shelf, clock: HandClock, tmp_path: Path) -> None:
    left = tmp_path / "worker" / "turns" / "20200101T000000-dead"
    left.mkdir(parents=True)
    shelf.writer.apply([a_document()], [])
    assert list((tmp_path / "worker" / "turns").iterdir()) == []


def test_segments_are_merged_so_that_there_are_few(shelf: Shelf, blobs: Blobs) -> None:
    for number in range(40):
        shelf.writer.apply([a_document(f"v{number}", title="Film")], [])
    assert len(published(blobs).files) < 8
    shelf.finder.refresh()
    assert shelf.ask("film", limit=100).total == 40


def test_what_was_deleted_does_not_pile_up(shelf: Shelf, blobs: Blobs) -> None:
    shelf.writer.apply(several(60), [])
    size = sum(int(name.rpartition("-")[2]) for name in published(blobs).files.values())
    for _ in range(12):
        shelf.writer.apply(several(20), [])
    assert sum(int(name.rpartition("-")[2]) for name in published(blobs).files.values()) < 2 * size


