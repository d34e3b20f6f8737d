"""Worker processes of this machine, started and drained: those with a ticket in hand are left alone."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from infra.children import Child, Children
from infra.logs import Log
from infra.pools import Pool
from infra.scaling.figures import Told
from infra.scaling.processes import PoolProcesses
from infra.scaling.rules import Rule
from tests.infra.running import ROOT
from workers.report import read_reports

WORKER = str(Path(__file__).with_name("a_worker.py"))
POOL = Pool(name="work", queues={"low": 1}, batch=1, rule=Rule(floor=0, ceiling=9, slots=1), file=Path("pools.toml"))


class Machine:
    """`said` is what the supervisor would print; `started` the names of processes, in order."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.said: list[str] = []
        self.started: list[str] = []
        self.children = Children()
        self.pool = PoolProcesses(self._child, self.children, self._told)

    def _told(self) -> dict[int, Told]:
        return {report.pid: Told.by(report) for report in read_reports(self.scratch)}

    def _child(self, name: str, command: Sequence[str]) -> Child:
        self.started.append(name)
        log = Log(self.scratch / f"{name}.log")
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        mine = [sys.executable, WORKER, str(self.scratch)]
        return Child(name, mine, log, environment, self.said.append, folder=ROOT)

    async def has(self, size: int) -> "Machine":
        """So many, each of which has told what it holds."""
        self.pool.resize(POOL, size, surely_idle=False)
        await until(lambda: len(self.pool.told()) == size and None not in self.pool.told().values())
        return self

    async def works(self, number: int) -> int:
        """The process of that number takes a ticket; its pid."""
        pid = sorted(self.pool.told())[number - 1]
        (self.scratch / f"busy-{pid}").touch()
        await until(lambda: self._told()[pid].held == 1)
        return pid


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.02)


def on(folder: Path, test: Callable[[Machine], Awaitable[None]]) -> None:
    async def run() -> None:
        machine = Machine(folder)
        try:
            await test(machine)
        finally:
            machine.children.kill()
            await machine.children.ended()

    with ThreadPoolExecutor(1) as elsewhere:  # where a browser test ran before, this thread has a loop already
        elsewhere.submit(asyncio.run, run()).result()


def test_the_idle_ones_are_drained_and_the_one_with_a_ticket_is_not(tmp_path: Path) -> None:
    async def test(machine: Machine) -> None:
        await machine.has(3)
        busy = await machine.works(3)
        machine.pool.resize(POOL, 1, surely_idle=False)
        await until(lambda: [child.pid for child in machine.children if child.pid] == [busy])
        machine.pool.resize(POOL, 0, surely_idle=False)
        assert machine.pool.size == 1
        (machine.scratch / f"busy-{busy}").unlink()
        await until(lambda: machine.pool.told()[busy].held == 0)
        machine.pool.resize(POOL, 0, surely_idle=False)
        await machine.children.ended()
        assert machine.said == [], "a process that was drained has not died"

    on(tmp_path, test)


def test_one_that_died_is_still_counted_and_started_again_and_a_new_one_takes_the_first_free_name(
    tmp_path: Path,
) -> None:
    async def test(machine: Machine) -> None:
        await machine.has(2)
        [first, second] = list(machine.children)
        os.kill(first.pid or 0, 9)
        await until(lambda: machine.said)
        assert machine.pool.size == 2
        second.stop()
        await until(lambda: second.pid is None)
        machine.children.forget_ended()
        machine.pool.resize(POOL, 3, surely_idle=False)
        assert machine.started == ["work-1", "work-2", "work-2", "work-3"]
        assert ["work-1 was ended by SIGKILL" in sentence for sentence in machine.said] == [True]

    on(tmp_path, test)


@pytest.mark.parametrize(("surely_idle", "left"), [(False, 2), (True, 0)])
def test_those_that_tell_nothing_are_drained_only_when_nothing_is_held(
    tmp_path: Path, surely_idle: bool, left: int
) -> None:
    async def test(machine: Machine) -> None:
        machine.pool = PoolProcesses(machine._child, machine.children, dict)
        machine.pool.resize(POOL, 2, surely_idle=False)
        await until(lambda: len(machine.pool.told()) == 2)
        machine.pool.resize(POOL, 0, surely_idle=surely_idle)
        assert machine.pool.size == left

    on(tmp_path, test)
