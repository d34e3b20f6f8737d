"""The site behind its real server, as the supervisor starts it, in a process of its own."""

import http.client
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from infra.web_server import command
from shared.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
_READY_WITHIN = 60.0


class Server:
    """`address` is (host, port); `token` is sent with every request."""

    def __init__(self, address: tuple[str, int], process: "subprocess.Popen[bytes]", token: str) -> None:
        self.address = address
        self._process = process
        self.token = token

    def ask(self, method: str, url: str, body: bytes | None = None, **headers: str) -> tuple[int, Any, bytes]:
        """Status, headers and content. `url` may be a whole address: only its path is used."""
        parts = urlsplit(url)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, {"Authorization": f"Bearer {self.token}", **named})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def ask_json(self, method: str, url: str, about: object = None) -> Any:
        status, _, content = self.ask(method, url, None if about is None else json.dumps(about).encode())
        assert status < 300, content
        return json.loads(content)

    def most_memory(self) -> int:
        """Bytes the largest of its processes ever held at once."""
        own = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        peaks = [Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0] for pid in own]
        assert peaks, "the server has no worker process"
        return max(map(int, peaks)) * 1024

    def wait_until_ready(self) -> None:
        until = time.monotonic() + _READY_WITHIN
        while time.monotonic() < until:
            try:
                if self.ask("GET", "/health/ready")[0] == 200:
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server never was ready")


@contextmanager
def a_server(settings: Settings, token: str) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        environment = {
            **os.environ,
            "MATINEE_STORAGE": settings.storage,
            "MATINEE_SECRET_KEY": settings.secret_key,
            "MATINEE_BLOCK_SIZE": str(settings.block_size),
            "MATINEE_MIN_FREE": "0",
            "MATINEE_GRACE": "2",
        }
        process = subprocess.Popen(
            command(settings, listener.fileno()), cwd=ROOT, env=environment, pass_fds=[listener.fileno()],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        server = Server(listener.getsockname(), process, token)
        try:
            server.wait_until_ready()
            yield server
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
