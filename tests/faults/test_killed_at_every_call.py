"""A process is killed (-9) at every storage call of a video's life, and the end is the same as if it had not been."""

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from shared.services import Services
from tests.faults.deadly import Trap, When
from tests.faults.life import World, browse, live_on, work_one
from tests.faults.verdict import check_end

SHARDS = 12
"""Tests that share the cases among them, so that several processes can run them."""

Act = Callable[[Services], object]


@dataclass(frozen=True)
class Recording:
    """An act of a whole life: what it does, the world just before it, and the calls it makes."""

    act: Act
    world: World
    calls: tuple[str, ...]


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> list[Recording]:
    """A life in which nobody is killed, with a copy of the world before each act."""
    root = tmp_path_factory.mktemp("life")
    world = World(root / "living")
    recordings: list[Recording] = []
    acts = iter([browse])
    while True:
        act = next(acts, work_one)
        before = world.copy(root / f"before-{len(recordings)}")
        trap = Trap()
        services = world.open(trap)
        opening = len(trap.calls)
        if act(services) is False:
            break
        recordings.append(Recording(act=act, world=before, calls=tuple(trap.calls[opening:])))
    check_end(world, world.open())
    return recordings


def cases(life: list[Recording]) -> Iterator[tuple[Recording, int, When]]:
    for recording in life:
        for number in range(1, len(recording.calls) + 1):
            yield recording, number, "before"
            yield recording, number, "after"


def kill_at(world: World, act: Act, number: int, when: When) -> None:
    """Run the act in a process of its own that dies at its call `number`."""
    child = os.fork()
    if child == 0:
        try:
            trap = Trap(when=when)
            services = world.open(trap)
            trap.number = len(trap.calls) + number
            act(services)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"call {number} was never made"
    assert os.WTERMSIG(status) == signal.SIGKILL


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.timeout(240)
def test_a_kill_at_any_call_changes_nothing_in_the_end(life: list[Recording], shard: int, tmp_path: Path) -> None:
    for place, (recording, number, when) in enumerate(list(cases(life))[shard::SHARDS]):
        world = recording.world.copy(tmp_path / str(place))
        kill_at(world, recording.act, number, when)
        try:
            check_end(world, live_on(world))
        except Exception as error:
            raise AssertionError(f"killed {when} {recording.calls[number - 1]}: {error}") from error


def test_the_calls_include_every_step_of_a_life(life: list[Recording]) -> None:
    """The test of the test: a life recorded without its steps would prove nothing."""
    made = "\n".join(call for recording in life for call in recording.calls)
    for part in ("first", "audio", "ladder", "pictures", "mp4"):
        assert f"'part-g1-{part}'" in made
    for call in ("stage_block", "commit_block_list", "blobs.put('media'", "blobs.put('search'", "queues.delete"):
        assert call in made
    assert len(list(cases(life))) > 300
