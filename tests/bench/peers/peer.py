"""One queue in one folder: its sender, its workers, and the ledger its tickets write."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.bench.peers.apps.ticket import GATE, LEDGER, OPEN, SECONDS
from tests.bench.peers.kinds import Command, Kind
from tests.workers.processes import MARK, ROOT, marked

_PATIENCE = 60.0


@dataclass(frozen=True)
class Line:
    """What one ticket wrote: which, by which process, and when it began and ended."""

    number: int
    pid: int
    began: float
    ended: float


class Peer:
    """A queue of this kind with nothing in it yet; its files lie in `folder`, its tickets in the broker of `environment`."""

    def __init__(self, kind: Kind, folder: Path, environment: Mapping[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.kind = kind
        self._ledger = folder / "ledger"
        self._log = folder / "log"
        self._gate = folder / "gate"
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "BENCH_SQLITE": str(folder / "huey.db"),
            "MATINEE_STORAGE": f"local:{folder / 'data'}",
            "MATINEE_SECRET_KEY": "for a bench only",
            "MATINEE_MIN_FREE": "0",
            LEDGER: str(self._ledger),
            **kind.environment,
            **environment,
        }

    def lines(self) -> list[Line]:
        """Those of finished tickets, in the order they were written."""
        if not self._ledger.exists():
            return []
        words = (line.split() for line in self._ledger.read_text().splitlines())
        return [Line(int(number), int(pid), float(began), float(ended)) for number, pid, began, ended in words]

    def done(self) -> Counter[int]:
        """How often each ticket was done."""
        return Counter(line.number for line in self.lines())

    @contextmanager
    def sender(self) -> Iterator["Sender"]:
        command = [self.kind.python, "-m", "tests.bench.peers.apps.sender", self.kind.module]
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                command, env=self._environment, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        try:
            yield Sender(process)
        finally:
            process.kill()
            process.communicate()

    @contextmanager
    def working(self, processes: int, *, seconds: float = 0.0) -> Iterator["Workers"]:
        """So many worker processes, whose tickets take `seconds`; at the end they are told to end, or killed."""
        self._gate.mkdir()
        environment = {**self._environment, SECONDS: str(seconds), GATE: str(self._gate)}
        workers = Workers(self.kind.workers(processes), environment, self._log)
        try:
            yield workers
        finally:
            workers.end()
            shutil.rmtree(self._gate)

    def open_gate(self, processes: int = 0) -> float:
        """Let the workers begin once so many of them have a first ticket in hand; when that was (monotonic)."""
        until = time.monotonic() + _PATIENCE
        while len(list(self._gate.iterdir())) < processes:
            if time.monotonic() > until:
                raise RuntimeError(f"{self.kind.name}: its workers took no tickets; it says {self._log.read_text()[-3000:]}")
            time.sleep(0.01)
        opened = time.monotonic()
        (self._gate / OPEN).touch()
        return opened

    def wait_for(self, count: int, *, without_news: float = _PATIENCE) -> bool:
        """Until so many tickets are done, or nothing more is for that many seconds; whether they all are."""
        seen, since = 0, time.monotonic()
        while (done := len(self.done())) < count:
            if done > seen:
                seen, since = done, time.monotonic()
            if time.monotonic() > since + without_news:
                return False
            time.sleep(0.05)
        return True


class Sender:
    """A process that sends when told: one line in, one out."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._read()

    def send(self, first: int, count: int) -> list[float]:
        """Sends tickets `first` and those after it; when each was begun to be sent, and when the last was (monotonic)."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{first} {count}\n")
        self._process.stdin.flush()
        return [float(moment) for moment in json.loads(self._read())]

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("a sender ended; the log in the bench's folder says why")
        return line


class Workers:
    """Processes that carry a mark, as do all they start, wherever those hide."""

    def __init__(self, commands: Sequence[Command], environment: Mapping[str, str], log: Path) -> None:
        self._mark = secrets.token_hex(8)
        with log.open("ab") as file:
            self._processes = [
                subprocess.Popen(
                    command, env={**environment, MARK: self._mark}, cwd=ROOT,
                    stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
                )
                for command in commands
            ]

    def kill(self) -> None:
        """All at once, as a power cut would, but for what the system still has in its memory."""
        while pids := marked(self._mark):
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for process in self._processes:
                process.poll()

    def end(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.terminate()
        for process in self._processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(15)
        self.kill()

