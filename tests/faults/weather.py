"""What hurts a site: each fault is chosen by a seed, lasts a moment, and is noted with when and whom it met."""

import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from shared.errors import MatineeError
from shared.queues import MAX_BATCH
from shared.services import Services
from shared.tickets import QUEUES
from tests.azurite.cable import Cable
from tests.faults.crowd import Crowd
from tests.workers.processes import ROOT

HOLD = """
import sys, time
from pathlib import Path
from shared.clock import SystemClock
from shared.local.tables import LocalTables
from shared.local.queues import LocalQueues
store = {"tables": LocalTables, "queues": LocalQueues}[sys.argv[1]](Path(sys.argv[2]), SystemClock())
store._db.write(lambda _: time.sleep(float(sys.argv[3])))
"""
GARBAGE = ("{", "null", "\x01\x02", '{"schema": "matinee.ticket", "version": 99, "kind": "ingest"}', "x" * 40_000)


class Weather:
    """`done` counts what was done, `garbage` how many messages that are no tickets were sent."""

    def __init__(
        self, crowd: Crowd, services: Services, chance: random.Random, *, lease: float, way: Cable | None,
        disk: Path | None, say: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.done: Counter[str] = Counter()
        self.garbage = 0
        self._crowd = crowd
        self._services = services
        self._chance = chance
        self._lease = lease
        self._way = way
        self._disk = disk
        self._say = say
        self._faults: dict[Callable[[], None], int] = {
            self._kill_worker: 6, self._kill_web: 2, self._freeze: 3, self._busy: 3, self._skew: 1,
            self._copy_tickets: 3, self._send_garbage: 1,
        }  # fmt: skip
        if disk is not None:
            self._faults[self._fill_disk] = 2

    def strike(self) -> None:
        [fault] = self._chance.choices(list(self._faults), list(self._faults.values()))
        self.done[fault.__name__.strip("_").replace("_", " ")] += 1
        with suppress(MatineeError):  # a store that is away cannot be asked for tickets to copy
            fault()
        self._crowd.start_all()

    def _kill_worker(self) -> None:
        name = self._chance.choice(self._crowd.workers)
        self._say(f"kill {name}")
        self._crowd.kill(name)

    def _kill_web(self) -> None:
        self._say("kill web")
        self._crowd.kill("web")

    def _freeze(self) -> None:
        name = self._chance.choice(self._crowd.workers)
        seconds = self._lease * self._chance.uniform(0.5, 2.5)
        self._say(f"freeze {name} for {seconds:.1f} s")
        self._crowd.signal(name, signal.SIGSTOP)
        time.sleep(seconds)
        self._crowd.signal(name, signal.SIGCONT)

    def _busy(self) -> None:
        seconds = self._chance.uniform(0.5, 3.0)
        if self._way is not None:
            self._say(f"no way to the account for {seconds:.1f} s")
            self._way.cut()
            time.sleep(seconds)
            self._way.mend()
            return
        store = self._chance.choice(["tables", "queues"])
        self._say(f"{store} held for {seconds:.1f} s")
        path = self._services.settings.local_path() / f"{store}.db"
        subprocess.run([sys.executable, "-c", HOLD, store, str(path), str(seconds)], cwd=ROOT, check=False)

    def _skew(self) -> None:
        """A worker whose clock is an hour off, for as long as it lives."""
        name = self._chance.choice(self._crowd.workers)
        ahead = self._chance.choice([-3600.0, 3600.0])
        self._say(f"{name} starts again with its clock off by {ahead:+.0f} s")
        self._crowd.kill(name)
        self._crowd.start(name, ahead=ahead)
        time.sleep(self._chance.uniform(1.0, 3.0))
        self._crowd.kill(name)

    def _copy_tickets(self) -> None:
        """Delivered twice, and later than those behind them."""
        for queue in QUEUES:
            for message in self._services.queues.peek(queue, count=MAX_BATCH)[:3]:
                delay = timedelta(seconds=self._chance.randrange(4))
                self._services.queues.send(queue, message.body, delay=delay)
                self._say(f"a copy of a ticket in {queue}, after {delay.seconds} s")

    def _send_garbage(self) -> None:
        queue = self._chance.choice(QUEUES)
        self._say(f"garbage in {queue}")
        self._services.queues.send(queue, self._chance.choice(GARBAGE))
        self.garbage += 1

    def _fill_disk(self) -> None:
        assert self._disk is not None
        filler, seconds = self._disk / "filler", self._chance.uniform(1.0, 3.0)
        self._say(f"the disk is full for {seconds:.1f} s")
        left = shutil.disk_usage(self._disk).free
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            for _ in range(left // (1 << 20) + 2):
                file.write(b"\xa5" * (1 << 20))
        time.sleep(seconds)
        filler.unlink(missing_ok=True)
