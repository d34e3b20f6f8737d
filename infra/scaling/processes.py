"""The worker processes of this machine: started and drained as decided, those without work in hand first."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from infra.children import Child, Children
from infra.pools import Pool, PoolsFile
from infra.scaling.figures import Processes, Told
from infra.scaling.scaler import Scaler
from workers.report import read_reports


class PoolProcesses:
    """Those of one pool. One that drains is not counted any more, though it may still finish what it has in hand."""

    def __init__(
        self,
        start: Callable[[str, Sequence[str]], Child],
        children: Children,
        told: Callable[[], Mapping[int, Told]],
    ) -> None:
        """`told` is what every process of this machine last told, by pid."""
        self._start = start
        self._children = children
        self._told = told
        self._mine: dict[int, Child] = {}

    @property
    def size(self) -> int:
        return len(self._running())

    def told(self) -> Processes:
        """What each of them last told; one that is just being started has nothing in hand."""
        told, pids = self._told(), (child.pid for child in self._running().values())
        return {pid: told.get(pid) for pid in pids if pid is not None}

    def resize(self, pool: Pool, size: int, *, surely_idle: bool) -> None:
        """`surely_idle`: nothing of the pool is held, so that also a process which tells nothing may be drained."""
        for _ in range(size - self.size):
            self._add(pool)
        for child in list(self._idle(surely_idle))[: max(0, self.size - size)]:
            child.stop()

    def _add(self, pool: Pool) -> None:
        """Under the lowest number that none has, draining ones included: its log is its own."""
        taken = {number for number, child in self._mine.items() if child in set(self._children)}
        number = next(number for number in count(1) if number not in taken)
        child = self._start(pool.process_name(number), pool.command())
        self._mine[number] = child
        self._children.start(child)

    def _idle(self, surely: bool) -> Iterator[Child]:
        """Those that may be drained, the last started first. Asked for anew: since the look it may have begun."""
        told = self._told()
        for _, child in sorted(self._running().items(), reverse=True):
            its = told.get(child.pid) if child.pid is not None else Told(held=0)
            if surely if its is None else its.held == 0:
                yield child

    def _running(self) -> dict[int, Child]:
        return {number: child for number, child in self._mine.items() if not child.is_ending}


class Scaling:
    """Every pool of this machine, from its beginning."""

    def __init__(
        self,
        pools: PoolsFile,
        scaler: Scaler,
        start: Callable[[str, Sequence[str]], Child],
        children: Children,
        scratch: Path,
        say: Callable[[str], None],
    ) -> None:
        self._pools = pools
        self._scaler = scaler
        self._start = start
        self._children = children
        self._scratch = scratch
        self._say = say
        self._known: dict[str, Pool] = {}
        self._processes: dict[str, PoolProcesses] = {}

    def start(self) -> None:
        for pool in self._known_pools():
            self._processes[pool.name].resize(pool, pool.rule.floor, surely_idle=False)

    async def look(self) -> None:
        """At each pool once, and do what is decided."""
        for pool in self._known_pools():
            processes = self._processes[pool.name]
            size, told = processes.size, processes.told()
            decision = await asyncio.to_thread(self._scaler.look, pool, size, told)
            reading = self._scaler.looked()[pool.name].reading
            processes.resize(pool, decision.size, surely_idle=reading.hidden == 0)
            if processes.size != size:
                self._say(f"{pool.name} goes from {size} to {processes.size} processes: {decision.why}")

    def _known_pools(self) -> list[Pool]:
        """Those of the file, and those that are no longer in it, which shall have no process any more."""
        now = {pool.name: pool for pool in self._pools.current()}
        gone = {name: pool for name, pool in self._known.items() if name not in now and self._processes[name].size}
        nothing = {
            name: replace(pool, rule=replace(pool.rule, floor=0, ceiling=0)) for name, pool in gone.items()
        }
        self._known = {**now, **nothing}
        for name in self._known:
            if name not in self._processes:
                self._processes[name] = PoolProcesses(self._start, self._children, self._told)
        return list(self._known.values())

    def _told(self) -> dict[int, Told]:
        return {report.pid: Told.by(report) for report in read_reports(self._scratch)}
