"""A site as processes of its own that are hurt and started again: web, and each pool twice where it may be."""

import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

from infra import address, web_server
from infra.pools import read_pools
from shared.settings import PREFIX, Settings
from tests.workers.processes import MARK, ROOT, marked

SKEWED = """
import sys
from datetime import timedelta
from shared import clock
ahead = timedelta(seconds=float(sys.argv.pop(1)))
true = clock.SystemClock.now
clock.SystemClock.now = lambda self: true(self) + ahead
from workers.pool import main
sys.exit(main(sys.argv[1:]))
"""


class Crowd:
    """`names` are its processes; each is in a session of its own, and carries `mark`."""

    def __init__(self, settings: Settings, logs: Path) -> None:
        self.mark = secrets.token_hex(8)
        self._logs = logs
        self._listener = address.listen("127.0.0.1", 0)
        self.url = address.url_of(self._listener)
        given = ("storage", "scratch", "secret_key", "min_free", "lease", "max_tries", "grace", "ffmpeg_threads",
                 "idle_max", "stalled_after", "sweep_every", "garbage_after")  # fmt: skip
        mine = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        variables = {PREFIX + name.upper(): str(getattr(settings, name)) for name in given}
        self._environment = {**mine, **variables, MARK: self.mark, "PYTHONPATH": str(ROOT)}
        self._commands = {"web": web_server.command(settings, self._listener.fileno(), cores=1)}
        for pool in read_pools(cores=1):
            copies = 1 if pool.name in ("index", "housekeeping") else 2
            for number, command in enumerate([command for _, command in pool.commands()][:1] * copies):
                self._commands[f"{pool.name}-{number}"] = command
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def workers(self) -> list[str]:
        return [name for name in self._commands if name != "web"]

    def start_all(self) -> None:
        for name in self._commands:
            if not self.lives(name):
                self.start(name)

    def start(self, name: str, *, ahead: float = 0.0) -> None:
        """A worker's clock may be `ahead` of all others, by seconds."""
        command = self._commands[name]
        if ahead:
            at = command.index("workers.pool")
            command = [sys.executable, "-c", SKEWED, str(ahead), *command[at + 1 :]]
        sockets = [self._listener.fileno()] if name == "web" else []
        with (self._logs / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                command, cwd=ROOT, env=self._environment, stdout=log, stderr=log, pass_fds=sockets,
                start_new_session=True,
            )  # fmt: skip

    def lives(self, name: str) -> bool:
        return name in self._running and self._running[name].poll() is None

    def signal(self, name: str, number: int) -> None:
        """To it and all of its session; ffmpeg has one of its own."""
        process = self._running[name]
        if process.poll() is None:
            os.killpg(process.pid, number)

    def kill(self, name: str) -> None:
        self.signal(name, signal.SIGKILL)
        self._running[name].wait(10)

    def end(self) -> list[int]:
        """Told to drain, all at once; their exit codes."""
        for name in self._commands:
            self.signal(name, signal.SIGCONT)
            if self.lives(name):
                self._running[name].send_signal(signal.SIGTERM)
        codes = [process.wait(60) for process in self._running.values()]
        self._listener.close()
        return codes

    def left(self) -> list[int]:
        """Processes that carry its mark, a second after all should have ended."""
        until = time.monotonic() + 5
        while marked(self.mark) and time.monotonic() < until:
            time.sleep(0.1)
        return marked(self.mark)

    def put_down(self) -> None:
        for pid in marked(self.mark):
            os.kill(pid, signal.SIGKILL)
