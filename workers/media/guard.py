"""Over one running process: it ends when told to, when it gets nowhere, and when it takes more than it may."""

import math
import os
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from shared.errors import Permanent
from workers.media.endings import TOO_MUCH_WORK, Broken

_LOOKS_EVERY = 0.1
_PATIENCE = 0.4
_STALLED = 600.0
_WORKS = 0.01
"""The least share of a processor that is work. Waiting costs some as well: a poll now and then earns a tick."""
_SILENT = 3 * 3600.0
"""No honest file is worked on for so long before the next second comes of it."""


class Process(Protocol):
    """One that leads its own group."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Processor seconds at all, and more for each second that was made; seconds on the clock where few are enough."""

    cpu: float
    cpu_each: float = 0.0
    clock: float = math.inf


class Guard:
    """Watches from `start` until the process is gone; `verdict` is what to raise if it was the guard who ended it."""

    def __init__(self, process: Process, stopped: threading.Event, bounds: Bounds) -> None:
        self.verdict: Broken | Permanent | None = None
        self.cpu = 0.0
        """Processor seconds it had used when last looked at."""
        self._process = process
        self._stopped = stopped
        self._bounds = bounds
        self._made = 0.0
        self._moves = 0
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def moved(self, made: float = 0.0) -> None:
        """Something more came out of it: in all `made` seconds, where it is seconds that are made."""
        self._made = made
        self._moves += 1

    def end(self) -> None:
        """SIGTERM, then SIGKILL, to the whole group; always waited for."""
        _kill(self._process)
        self._thread.join()

    def _watch(self) -> None:
        began = time.monotonic()
        moves, moved = self._moves, began
        used, worked = 0.0, began
        while self._process.poll() is None and not self._stopped.wait(_LOOKS_EVERY):
            now, cpu = time.monotonic(), _cpu_seconds(self._process.pid)
            self.cpu = cpu or self.cpu
            if self._moves != moves:
                moves, moved = self._moves, now
            if cpu is None or cpu - used >= _STALLED * _WORKS:
                used, worked = cpu or 0.0, now
            self.verdict = self._judge(cpu or 0.0, now - began, now - moved, now - worked)
            if self.verdict is not None:
                break
        _kill(self._process)

    def _judge(self, cpu: float, clock: float, silent: float, idle: float) -> Broken | Permanent | None:
        if cpu > self._bounds.cpu + self._bounds.cpu_each * self._made:
            return Permanent(TOO_MUCH_WORK)
        if clock > self._bounds.clock:
            return Broken(f"what takes a moment was not over after {clock:.0f} s")
        if min(silent, idle) > _STALLED or silent > _SILENT:
            return Broken(f"nothing came of it for {silent:.0f} s")
        return None


def _kill(process: Process) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, sign)
            until = time.monotonic() + _PATIENCE
            while process.poll() is None and time.monotonic() < until:
                time.sleep(0.01)
    process.wait()


def _cpu_seconds(pid: int) -> float | None:
    """What it has used so far; None where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (float(fields[11]) + float(fields[12])) / os.sysconf("SC_CLK_TCK")
