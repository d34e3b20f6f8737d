"""Real worker processes, and a way to find everything they started: an environment variable their children inherit."""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from shared.settings import PREFIX, Settings

MARK = "MATINEE_TEST_MARK"
ROOT = Path(__file__).resolve().parents[2]


def environment(settings: Settings, mark: str, **changes: object) -> dict[str, str]:
    """Settings as the environment variables a process reads, and the mark."""
    names = ("storage", "scratch", "min_free", "secret_key", "ffmpeg_threads", "max_tries", "lease", "grace")
    given = {name: getattr(settings, name) for name in names} | changes
    return {**os.environ, MARK: mark, **{PREFIX + name.upper(): str(value) for name, value in given.items()}}


class PoolProcess:
    """`python -m workers.pool` over some queues. Used as a context manager it is gone at the end, children and all."""

    def __init__(self, settings: Settings, *queues: str, tasks: int = 1, **changes: object) -> None:
        self.mark = secrets.token_hex(8)
        self._command = [sys.executable, "-m", "workers.pool", "test", *(f"{queue}=1" for queue in queues)]
        self._command += ["--tasks", str(tasks)]
        self._environment = environment(settings, self.mark, **changes)

    def __enter__(self) -> "PoolProcess":
        self.process = subprocess.Popen(
            self._command, env=self._environment, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        print(self.process.communicate()[1].decode())  # pytest shows it when the test fails
        wait_until(lambda: not marked(self.mark), 5, "the worker's children are gone")

    def send_signal(self, number: int) -> None:
        self.process.send_signal(number)

    def heeds_signals(self) -> bool:
        """Whether it is far enough to drain when told: until then SIGTERM ends it as it would any program."""
        fields = dict(line.split(":", 1) for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines())
        return bool(int(fields["SigCgt"], 16) >> (signal.SIGTERM - 1) & 1)

    def wait(self, seconds: float) -> int:
        return self.process.wait(seconds)

    def ffmpegs(self) -> list[int]:
        """Those at work by now: neither its launcher nor a look at its version."""
        return [pid for pid in marked(self.mark) if pid != self.process.pid and _is_at_work(pid)]


def marked(mark: str) -> list[int]:
    """Living processes that carry the mark."""
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and _carries(path, mark)]


def _is_at_work(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"launch.py" not in command and b"-progress" in command


def _carries(path: Path, mark: str) -> bool:
    try:
        environ = (path / "environ").read_bytes()
        state = (path / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return f"{MARK}={mark}".encode() in environ and state not in ("Z", "X")


def wait_until(holds: Callable[[], object], seconds: float, what: str) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, f"not within {seconds} s: {what}"
        time.sleep(0.02)
