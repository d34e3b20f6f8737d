"""A whole site started as a person would, on a free port and a data folder of its own."""

import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARK = "MATINEE_TEST_RUN"
SUPERVISOR = (sys.executable, "-m", "infra.supervisor")
UP = (str(ROOT / "infra" / "up"),)


class Site:
    """`said` is what its supervisor printed, line by line; `processes` everything it started that still runs."""

    def __init__(self, data: Path, **settings: str) -> None:
        self.data = data
        self.mark = uuid.uuid4().hex
        self.said: list[str] = []
        self._settings = {"MATINEE_GRACE": "3", "MATINEE_IDLE_MAX": "0.2", **settings}
        self._process: subprocess.Popen[bytes] | None = None
        self._listening = False
        self._listener: threading.Thread | None = None

    def start(self, *arguments: str, port: int = 0, command: Sequence[str] = SUPERVISOR, folder: Path = ROOT) -> "Site":
        """`command` is SUPERVISOR, or UP for all that a person's first command does; `folder` is where they stand."""
        ours, theirs = os.pipe()
        self._process = subprocess.Popen(
            [*command, "--data", str(self.data), "--port", str(port), *arguments],
            cwd=folder,
            env=self._environment(),
            stdout=theirs,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        os.close(theirs)
        self._listening = True
        self._listener = threading.Thread(target=self._listen, args=[ours], daemon=True)
        self._listener.start()
        return self

    def hang_up(self) -> None:
        """Close our end of its output, as a terminal that is shut does."""
        self._listening = False

    def ready(self, within: float = 60) -> "Site":
        eventually(lambda: self.url is not None or self.process.poll() is not None, within, "the site says it is ready")
        assert self.url, f"it never was ready: {self.said}"
        return self

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        assert self._process is not None
        return self._process

    @property
    def url(self) -> str | None:
        found = (re.match(r"Matinee is ready at (\S+)", line) for line in list(self.said))
        return next((match.group(1) for match in found if match), None)

    def processes(self) -> dict[int, str]:
        """Pid and command line, found by a mark in the environment they inherit, never by name."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes():
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:  # it ended while we looked, or is not ours to look at
                continue
        return found

    def children(self, words: str) -> list[int]:
        return [pid for pid, command in self.processes().items() if words in command]

    def interrupt(self, number: int = signal.SIGINT) -> None:
        self.process.send_signal(number)

    def stop(self, number: int = signal.SIGINT) -> int:
        """The exit code."""
        if self.process.poll() is None:
            self.interrupt(number)
        return self.exit_code()

    def exit_code(self, within: float = 30) -> int:
        """Once it has ended, and all it said is heard."""
        code = self.process.wait(within)
        assert self._listener
        self._listener.join(5)
        return code

    def end(self) -> None:
        """However the test went, leave nothing behind."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait(10)

    def answers(self, path: str = "/health/ready") -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}{path}", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def manage(self, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "infra.manage", "--data", str(self.data), *words]
        return subprocess.run(
            command, cwd=ROOT, env=self._environment(), input=stdin, capture_output=True, text=True, timeout=60
        )

    def _environment(self) -> dict[str, str]:
        mine = {name: value for name, value in os.environ.items() if not name.startswith("MATINEE_")}
        return {**mine, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", MARK: self.mark, **self._settings}

    def _listen(self, pipe: int) -> None:
        heard = b""
        while self._listening:
            if not select.select([pipe], [], [], 0.1)[0]:
                continue
            piece = os.read(pipe, 65536)
            *lines, heard = (heard + piece).split(b"\n")
            self.said += [line.decode() for line in lines]
            if not piece:
                break
        os.close(pipe)


def eventually(holds: Callable[[], object], within: float, what: str) -> None:
    until = time.monotonic() + within
    while time.monotonic() < until:
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError(f"after {within:g} s still not: {what}")
