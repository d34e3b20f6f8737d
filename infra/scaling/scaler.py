"""Looks at each pool, remembers what it saw, and says how many processes it should have."""

from collections.abc import Callable
from dataclasses import dataclass

from infra.pools import Pool
from infra.scaling.decision import Decision, decide
from infra.scaling.figures import Figures, Ledger, Processes
from infra.scaling.history import History, Reading
from shared.clock import Clock
from shared.queues import Queues

_MEMORY = 600.0
"""Seconds of readings that are kept at least: what a ticket takes is measured over them."""


@dataclass(frozen=True, kw_only=True)
class Looked:
    """The last look at a pool; `read_at` is when its queues were last read with success (monotonic), if ever."""

    pool: Pool
    reading: Reading
    decision: Decision
    read_at: float | None


class Scaler:
    def __init__(
        self,
        queues: Queues,
        clock: Clock,
        *,
        processor: Callable[[], float | None] = lambda: None,
        ledger: Ledger = lambda _: {},
    ) -> None:
        self._figures = Figures(queues, ledger)
        self._clock = clock
        self._processor = processor
        self._histories: dict[str, History] = {}
        self._looked: dict[str, Looked] = {}

    @property
    def trouble(self) -> str:
        """Why the queues could not be read when they last could not."""
        return self._figures.trouble

    def looked(self) -> dict[str, Looked]:
        return dict(self._looked)

    def look(self, pool: Pool, size: int | None, processes: Processes | None = None) -> Decision:
        """`size` and `processes` as `Figures.read` wants them. The store is asked only where it may matter."""
        at = self._clock.monotonic()
        if why := _needs_no_look(pool, size, processes):
            decision = Decision(size=pool.rule.floor, why=why)
            self._note(pool, Reading(at=at, size=decision.size, visible=None, hidden=None), decision)
            return decision
        reading = self._figures.read(pool, size, processes, at=at, cpu=self._processor())
        keep = max(_MEMORY, 2 * pool.rule.cool_down)
        history = self._histories.get(pool.name, History()).plus(reading, keep=keep)
        self._histories[pool.name] = history
        decision = decide(pool.rule, history, at)
        self._note(pool, reading, decision)
        return decision

    def _note(self, pool: Pool, reading: Reading, decision: Decision) -> None:
        before = self._looked.get(pool.name)
        read_at = reading.at if reading.visible is not None else before.read_at if before else None
        self._looked[pool.name] = Looked(pool=pool, reading=reading, decision=decision, read_at=read_at)


def _needs_no_look(pool: Pool, size: int | None, processes: Processes | None) -> str:
    """Why the queues need not be asked; "" if they need."""
    floor = pool.rule.floor
    if pool.rule.is_fixed and size in (None, floor):
        return "it is always of this size"
    if processes is None or not 1 <= floor == size == len(processes):
        return ""
    # Processes that hold nothing take what comes, and say so.
    is_idle = all(told is not None and not told.held for told in processes.values())
    return "none of it has anything to do" if is_idle else ""
