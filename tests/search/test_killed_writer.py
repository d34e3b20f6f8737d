"""A writer killed (-9) at any call to the store leaves the version before or the one after, and the next goes on."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from shared.clock import Clock
from shared.local.blobs import LocalBlobs
from shared.search.finder import Finder
from shared.search.writer import IndexWriter
from tests.faults.deadly import Deadly, Trap, When
from tests.search.shelf import a_document, several
from tests.workers.clock import HandClock

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

OLD, NEW = "before", "after"


def a_store(folder: Path, clock: Clock) -> LocalBlobs:
    return LocalBlobs(folder / "store", clock, secret="signs links in tests")


def write(store: LocalBlobs | Deadly, clock: Clock, machine: Path, words: str, started: Callable[[], None]) -> None:
    """Five videos say `words`; one of them is new, one that was there is removed."""
    writer = IndexWriter(store, clock, machine)  # type: ignore[arg-type]
    started()
    writer.apply([*several(4, title=f"{words} film"), a_document(f"only {words}", title=f"{words} film")], [f"only {OLD}"])


def the_number_of_calls(folder: Path, clock: HandClock) -> int:
    trap = Trap()
    store = a_store(folder, clock)
    write(store, clock, folder / "first", OLD, lambda: None)
    write(Deadly(store, "blobs", trap), clock, folder / "first", NEW, trap.calls.clear)
    return len(trap.calls)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("same_machine", [True, False], ids=["on the same machine", "on another machine"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_writer_killed_at_any_call_leaves_one_whole_version(tmp_path: Path, when: When, same_machine: bool) -> None:
    calls = the_number_of_calls(tmp_path / "count", HandClock())
    assert calls >= 8
    ends: set[str] = set()
    for number in range(1, calls + 1):
        clock, folder = HandClock(), tmp_path / str(number)
        store = a_store(folder, clock)
        write(store, clock, folder / "first", OLD, lambda: None)
        _die_writing(folder, clock, number, when)
        finder = Finder(a_store(folder, clock), clock, folder / "web")
        ends.add(_one_whole_version(finder))
        clock.forward(16)
        write(a_store(folder, clock), clock, folder / ("first" if same_machine else "third"), NEW, lambda: None)
        finder.refresh()
        assert _one_whole_version(finder) == NEW
    assert ends == {OLD, NEW}


def _die_writing(folder: Path, clock: HandClock, number: int, when: When) -> None:
    child = os.fork()
    if child == 0:
        try:
            trap = Trap(when=when)

            def spring_at() -> None:
                trap.number = len(trap.calls) + number

            write(Deadly(a_store(folder, clock), "blobs", trap), clock, folder / "first", NEW, spring_at)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"call {number} was never made"
    assert os.WTERMSIG(status) == signal.SIGKILL


def _one_whole_version(finder: Finder) -> str:
    counts = {words: finder.search(f"title:{words}", limit=50).total for words in (OLD, NEW)}
    whole = [words for words, count in counts.items() if count == 5]
    assert len(whole) == 1, counts
    assert finder.newest().total == 5
    return whole[0]
