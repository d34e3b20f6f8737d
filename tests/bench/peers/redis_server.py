"""A Redis of its own for each queue that wants one, on a free loopback port; what it acknowledges is on disk."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 20.0
_DURABLE = ("--appendonly", "yes", "--appendfsync", "always", "--save", "")


class Redis:
    def __init__(self, port: int) -> None:
        self.url = f"redis://127.0.0.1:{port}/0"
        self._port = port
        self._asked = 0

    def ask(self, *words: str) -> str:
        """The reply of one command: inline out, one line or one string back."""
        self._asked += 1
        with socket.create_connection(("127.0.0.1", self._port), timeout=_PATIENCE) as connection:
            connection.sendall(" ".join(words).encode() + b"\r\n")
            with connection.makefile("rb") as reply:
                first = reply.readline().decode().strip()
                return reply.read(int(first[1:])).decode() if first.startswith("$") else first

    def requests(self) -> int:
        """How often others asked so far; what a client sends in one go counts once, however many commands that is."""
        lines = (line.partition(":") for line in self.ask("INFO", "stats").splitlines())
        return int({name: value for name, _, value in lines}["total_reads_processed"]) - self._asked

    def commands(self) -> str:
        """The commands most often run since the last `reset`, those inside scripts too."""
        lines = (line for line in self.ask("INFO", "commandstats").splitlines() if line.startswith("cmdstat_"))
        calls = {line.split(":")[0][8:]: int(line.split("calls=")[1].split(",")[0]) for line in lines}
        calls = {name: count for name, count in calls.items() if name not in ("info", "config|resetstat")}
        most = sorted(calls.items(), key=lambda item: -item[1])[:4]
        return ", ".join(f"{name} {count}" for name, count in most)

    def reset(self) -> None:
        self.ask("CONFIG", "RESETSTAT")
        self._asked = 0


def program() -> str:
    """The path of redis-server. Ends the run where there is none, saying what to install."""
    found = shutil.which("redis-server")
    if found is None:
        sys.exit(
            "Three of the queues compared keep their tickets in Redis, and no program called redis-server is on PATH. "
            "Install it (Debian and Ubuntu: sudo apt-get install redis-server; macOS: brew install redis), then start again."
        )
    return found


@contextmanager
def redis_server(folder: Path) -> Iterator[Redis]:
    """Its data lie in `folder`."""
    folder.mkdir(parents=True)
    port = _free_port()
    where = ("--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--logfile", str(folder / "redis.log"))
    process = subprocess.Popen([program(), *where, *_DURABLE], stdout=subprocess.DEVNULL)
    try:
        yield _answering(Redis(port))
    finally:
        process.kill()
        process.wait()


def _answering(redis: Redis) -> Redis:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            if redis.ask("PING") == "+PONG":
                return redis
        except OSError:
            if time.monotonic() > until:
                raise
        time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])
