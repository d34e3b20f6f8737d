"""A real redis-server of a test's own, on a free loopback port, keeping nothing."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis


class RedisServer:
    """`url` names its first database."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._folder = folder
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.process = self._start()

    def start_again(self) -> None:
        self.process = self._start()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()

    def _start(self) -> "subprocess.Popen[bytes]":
        program = shutil.which("redis-server")
        assert program, "redis-server is missing; infra/test installs it, or says how"
        command = [program, "--port", str(self._port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        process = subprocess.Popen([*command, "--dir", str(self._folder)], stdout=subprocess.DEVNULL)
        until = time.monotonic() + 20
        client = redis.Redis.from_url(self.url)
        while True:
            try:
                client.ping()
            except redis.RedisError:
                assert time.monotonic() < until, "redis-server does not answer"
                time.sleep(0.02)
            else:
                client.close()
                return process


@contextmanager
def a_redis(folder: Path) -> Iterator[RedisServer]:
    server = RedisServer(folder)
    try:
        yield server
    finally:
        server.end()
