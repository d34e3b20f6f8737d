"""A finder's own copy of the index: where it comes from, when it changes, and what it survives."""

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from shared.blobs import Blobs
from shared.errors import Busy
from shared.search import SEARCH
from shared.search.finder import Finder
from shared.search.publication import POINTER
from shared.search.writer import IndexWriter
from tests.search.shelf import Shelf, a_document, several
from tests.workers.clock import HandClock
from tests.workers.faulty import Faulty


def test_before_anything_is_published_nothing_is_found(a_finder: Callable[[str], Finder]) -> None:
    finder = a_finder("web")
    assert finder.search("walrus").total == 0
    assert finder.newest().hits == ()
    assert finder.related("one").hits == ()
    assert finder.common_tags(3) == []


def test_machines_that_share_no_disk_find_the_same(shelf: Shelf, a_finder: Callable[[str], Finder]) -> None:
    shelf.put(*several(3))
    assert a_finder("another web").search("film").total == 3
    assert shelf.ask("film").total == 3


def test_a_newer_version_is_seen_a_second_later_without_asking_for_it(shelf: Shelf, clock: HandClock) -> None:
    shelf.put(a_document("one", title="Walrus"))
    shelf.writer.apply([a_document("two", title="Walrus")], [])
    assert shelf.ask("walrus").total == 1
    clock.forward(1.1)
    assert shelf.ask("walrus").total == 2


def test_an_index_emptied_by_its_writer_is_empty_for_its_readers(shelf: Shelf) -> None:
    shelf.put(*several(3))
    shelf.remove("v0", "v1", "v2")
    assert shelf.ask("film").total == 0
    assert shelf.finder.newest().total == 0


def test_looking_costs_one_question_a_second_however_many_search(
    shelf: Shelf, blobs: Blobs, clock: HandClock, tmp_path: Path
) -> None:
    shelf.put(*several(3))
    counting = Counting(blobs)
    finder = Finder(counting, clock, tmp_path / "web")  # type: ignore[arg-type]
    finder.search("film")
    counting.calls.clear()
    for _ in range(50):
        finder.search("film")
        finder.newest()
    assert counting.calls == []
    clock.forward(1.1)
    finder.search("film")
    assert counting.calls == ["stat"]


def test_only_files_that_are_not_here_yet_are_fetched(shelf: Shelf, blobs: Blobs, clock: HandClock, tmp_path: Path) -> None:
    shelf.put(*several(60))
    counting = Counting(blobs)
    finder = Finder(counting, clock, tmp_path / "fresh")  # type: ignore[arg-type]
    finder.refresh()
    counting.calls.clear()
    shelf.writer.apply([a_document("more", title="Walrus")], [])
    finder.refresh()
    assert finder.search("walrus").total == 1
    assert counting.calls.count("read") == 2, "the new segment and the new list of segments"


def test_a_folder_that_is_lost_is_filled_again(shelf: Shelf, tmp_path: Path, clock: HandClock) -> None:
    shelf.put(a_document(title="Walrus"))
    shutil.rmtree(tmp_path / "web")
    assert shelf.found("walrus") == ["one"], "what is open stays readable"
    clock.forward(2)
    assert shelf.found("walrus") == ["one"]
    assert list((tmp_path / "web" / "files").iterdir())


@pytest.mark.parametrize("damage", ["cut off", "overwritten", "emptied"])
def test_damaged_files_are_fetched_again(
    shelf: Shelf, a_finder: Callable[[str], Finder], tmp_path: Path, damage: str
) -> None:
    shelf.put(*several(5))
    shutil.copytree(tmp_path / "web" / "files", tmp_path / "restarted" / "files")
    for path in (tmp_path / "restarted" / "files").iterdir():
        content = path.read_bytes()
        path.write_bytes({"cut off": content[:-10], "overwritten": bytes(len(content)), "emptied": b""}[damage])
    assert a_finder("restarted").search("film").total == 5


def test_a_process_started_anew_fetches_nothing_it_has(shelf: Shelf, blobs: Blobs, clock: HandClock, tmp_path: Path) -> None:
    shelf.put(*several(5))
    counting = Counting(blobs)
    assert Finder(counting, clock, tmp_path / "web").search("film").total == 5  # type: ignore[arg-type]
    assert "read" not in counting.calls


def test_while_the_store_is_busy_the_version_at_hand_stays_in_use(
    shelf: Shelf, blobs: Blobs, clock: HandClock, tmp_path: Path
) -> None:
    shelf.put(a_document(title="Walrus"))
    failing = Faulty(blobs)
    finder = Finder(failing, clock, tmp_path / "web")  # type: ignore[arg-type]
    assert finder.search("walrus").total == 1
    failing.refuse("stat", Busy("not now"), times=1000)
    clock.forward(5)
    assert finder.search("walrus").total == 1


@pytest.mark.parametrize("harm", ["pointer gone", "pointer unreadable", "file gone", "file changed"])
def test_a_publication_that_is_damaged_leaves_the_version_at_hand_in_use(
    shelf: Shelf, blobs: Blobs, clock: HandClock, harm: str
) -> None:
    shelf.put(a_document(title="Walrus"))
    shelf.writer.apply([a_document("two", title="Walrus")], [])
    names = [blob.name for blob in blobs.list_blobs(SEARCH, prefix="files/").blobs]
    match harm:
        case "pointer gone":
            blobs.delete(SEARCH, POINTER)
        case "pointer unreadable":
            blobs.put(SEARCH, POINTER, b"{")
        case "file gone":
            for name in names:
                blobs.delete(SEARCH, name)
        case "file changed":
            for name in names:
                blobs.put(SEARCH, name, b"something else")
    clock.forward(5)
    assert shelf.ask("walrus").total == 1


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_takes_a_copy_of_its_own(shelf: Shelf, clock: HandClock) -> None:
    shelf.put(a_document(title="Walrus"))
    assert shelf.ask("walrus").total == 1
    child = os.fork()
    if child == 0:
        try:
            shelf.put(a_document("two", title="Walrus"))
            os._exit(0 if shelf.ask("walrus").total == 2 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert shelf.ask("walrus").total == 1, "the parent's folder is untouched"
    clock.forward(2)
    assert shelf.ask("walrus").total == 2


def test_searches_under_way_while_versions_change_see_one_version_each(
    shelf: Shelf, a_writer: Callable[[str], IndexWriter]
) -> None:
    """Each version holds the same videos, all of one word; a mixture would show two words, or too few videos."""
    shelf.put(*several(12, title="round0 film"))
    wrong: list[object] = []
    done = threading.Event()

    def search() -> None:
        while not done.is_set():
            try:
                hits = shelf.ask("film").hits
            except Exception as error:  # whatever fails is what this test is after
                wrong.append(error)
                return
            if len(hits) != 12 or len({hit.title_html for hit in hits}) != 1:
                wrong.append(hits)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(1, 16):
        shelf.put(*several(12, title=f"round{number} film"))
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert shelf.ask("round15").total == 12


class Counting:
    """A real store that lists the calls made to it."""

    def __init__(self, store: Blobs) -> None:
        self._store = store
        self.calls: list[str] = []

    def __getattr__(self, operation: str) -> object:
        self.calls.append(operation)
        return getattr(self._store, operation)
