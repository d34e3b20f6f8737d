"""A life put on record act by act, and ways to begin one of its acts again in a process that will not end it well."""

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from shared.services import Services
from tests.faults.deadly import Trap, When
from tests.faults.life import World, browse, work_one
from tests.faults.verdict import check_end

Act = Callable[[Services], object]


@dataclass(frozen=True)
class Recording:
    """An act of a whole life: what it does, the world just before it, and the calls it makes."""

    act: Act
    world: World
    calls: tuple[str, ...]

    @property
    def is_browsing(self) -> bool:
        """Whether it is web's half of the life."""
        return self.act is browse

    @property
    def shape(self) -> tuple[str, ...]:
        """The operations it asks for, one after another, whatever they are about."""
        return tuple(call.partition("(")[0] for call in self.calls)


def record(root: Path) -> list[Recording]:
    """A life in which nobody is harmed, with a copy of the world before each act."""
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


EVERY_CALL = bool(os.environ.get("MATINEE_TEST_EVERY_CALL"))
STEP = 1 if EVERY_CALL else 10
BACKENDS = ("azure", "local") if EVERY_CALL else ("local",)
"""What the longest tests run on. An account has shorter tests of the same in each run: killed, frozen and away."""


def places(life: Sequence[Recording], *, first: int) -> Iterator[tuple[Recording, int]]:
    """Every tenth call of each act, from its `first`; MATINEE_TEST_EVERY_CALL=1 takes all.

    Of acts that ask for the same as one before, every thirtieth, beginning with another each time.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    for recording in life:
        seen[recording.shape] += 1
        begin, step = (1, 1) if EVERY_CALL else (first, STEP)
        if seen[recording.shape] > 1 and not EVERY_CALL:
            begin, step = 1 + (first + 5 * seen[recording.shape]) % (3 * STEP), 3 * STEP
        yield from ((recording, number) for number in range(begin, len(recording.calls) + 1, step))


def run_into_a_kill(world: World, act: Act, number: int, when: When) -> None:
    """Run the act in a process of its own that is killed at its call `number`."""
    child = _begin(world, act, number, when, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"call {number} was never made"
    assert os.WTERMSIG(status) == signal.SIGKILL


def run_into_a_freeze(world: World, act: Act, number: int) -> int:
    """Run the act in a process of its own that is frozen before its call `number`; returns its id."""
    child = _begin(world, act, number, "before", signal.SIGSTOP)
    assert_frozen(child, number)
    return child


def assert_frozen(child: int, number: int) -> None:
    _, status = os.waitpid(child, os.WUNTRACED)
    assert os.WIFSTOPPED(status), f"call {number} was never made"


def put_down(child: int) -> None:
    """A test that failed leaves nobody frozen behind, who would keep its output open for ever."""
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)


def thaw(child: int) -> None:
    """Let it go on, and wait for its end."""
    os.kill(child, signal.SIGCONT)
    _, status = os.waitpid(child, 0)
    assert os.WIFEXITED(status)


def _begin(world: World, act: Act, number: int, when: When, number_of_signal: signal.Signals) -> int:
    child = os.fork()
    if child == 0:
        try:
            trap = Trap(when=when, signal=number_of_signal)
            services = world.open(trap)
            trap.number = len(trap.calls) + number
            act(services)
        finally:
            os._exit(1)
    return child
