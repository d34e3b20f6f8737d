"""What is known of a pool now: from its queues, at one or two storage transactions each, and from its processes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from infra.pools import Pool
from infra.scaling.history import Reading
from shared.errors import MatineeError
from shared.queues import MAX_BATCH, Depth, Queues
from workers.ledger import Ended
from workers.report import Report


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a process says: tickets it holds, those it ended since it began, and the seconds of work on them."""

    held: int
    done: int = 0
    seconds: float = 0.0

    @classmethod
    def by(cls, report: Report) -> "Told":
        done = report.done + report.set_aside
        return cls(held=len(report.tickets), done=done, seconds=sum(report.seconds.values()))


Processes = Mapping[int, Told | None]
"""What each process of a pool last told, by pid; None if it tells nothing."""


Ledger = Callable[[str], Mapping[str, Ended]]
"""What the processes of a pool on other machines have ended, at one storage transaction; MatineeError."""


class Figures:
    """`trouble` is why the last reading failed, for people."""

    def __init__(self, queues: Queues, ledger: Ledger = lambda _: {}) -> None:
        self.trouble = ""
        self._queues = queues
        self._ledger = ledger
        self._before: dict[str, dict[str, Told]] = {}

    def read(
        self, pool: Pool, size: int | None, processes: Processes | None, *, at: float, cpu: float | None
    ) -> Reading:
        """`size` and `processes` are None where they are not known, as on other machines."""
        depth = self._depth(pool)
        visible, hidden = _told_apart(depth, pool, size or 0)
        if size is None:  # no fewer than what is held may need
            size = min(max(pool.rule.floor, hidden or 0), pool.rule.ceiling)
        done, seconds = self._ended(pool, processes)
        return Reading(
            at=at,
            size=size,
            visible=visible,
            hidden=hidden,
            oldest=None if depth is None or depth.oldest is None else depth.oldest.total_seconds(),
            at_work=None if processes is None else _at_work(processes, hidden),
            done=done,
            seconds=seconds,
            cpu=cpu,
        )

    def _depth(self, pool: Pool) -> Depth | None:
        """Of its queues together; None if one of them could not be asked, which is not the same as empty."""
        try:
            depths = [self._queues.depth(queue) for queue in pool.queues]
        except MatineeError as error:
            self.trouble = str(error)
            return None
        visible = [depth.visible for depth in depths if depth.visible is not None]
        return Depth(
            messages=sum(depth.messages for depth in depths),
            oldest=max((depth.oldest for depth in depths if depth.oldest is not None), default=None),
            visible=sum(visible) if len(visible) == len(depths) else None,
        )

    def _ended(self, pool: Pool, processes: Processes | None) -> tuple[int, float]:
        """Tickets and seconds since each process was last heard."""
        try:
            heard = self._heard(pool, processes)
        except MatineeError:  # what they ended meanwhile is told the next time
            return 0, 0.0
        before = {who: self._before.get(pool.name, {}).get(who, Told(held=0)) for who in heard}
        now = {who: told or before[who] for who, told in heard.items()}
        self._before[pool.name] = now
        done = sum(max(0, now[who].done - before[who].done) for who in now)
        return done, sum(max(0.0, now[who].seconds - before[who].seconds) for who in now)

    def _heard(self, pool: Pool, processes: Processes | None) -> dict[str, Told | None]:
        if processes is None:
            ended = self._ledger(pool.name)
            return {who: Told(held=0, done=one.done, seconds=one.seconds) for who, one in ended.items()}
        return {str(pid): told for pid, told in processes.items()}


def _told_apart(depth: Depth | None, pool: Pool, size: int) -> tuple[int | None, int | None]:
    """(visible, hidden). Where the store counts only all, its processes are taken to hold as many as they may."""
    if depth is None:
        return None, None
    visible = depth.visible
    if visible is None:
        visible = min(depth.messages, max(MAX_BATCH, depth.messages - size * pool.rule.slots))
    return visible, max(0, depth.messages - visible)


def _at_work(processes: Processes, hidden: int | None) -> int:
    """One that tells nothing may hold a ticket unless none is held."""
    held = [(0 if hidden == 0 else 1) if told is None else told.held for told in processes.values()]
    return sum(1 for count in held if count)


