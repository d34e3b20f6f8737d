"""A whole site to measure, and a program that uploads to it through the public API, several blocks at a time."""

import base64
import hashlib
import http.client
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.infra.running import Site

AT_ONCE = 4


@contextmanager
def a_site(data: Path, **settings: str) -> Iterator[tuple[Site, "Client"]]:
    site = Site(data, **settings).start("--no-sample").ready()
    try:
        made = site.manage("token", "create", "admin")
        made.check_returncode()
        yield site, Client(str(site.url), made.stdout.strip())
    finally:
        site.stop()
        site.end()


class Client:
    def __init__(self, url: str, token: str) -> None:
        self._host = urlsplit(url).netloc
        self._token = token

    def upload(self, path: Path) -> str:
        """The video's id, once the server has acknowledged the commit."""
        opened = self.call("POST", "/api/v1/uploads", {"filename": path.name, "size": path.stat().st_size})
        size = opened["block_size"]
        blocks = [
            (base64.urlsafe_b64encode(f"{number:06d}".encode()).decode(), at)
            for number, at in enumerate(range(0, path.stat().st_size, size))
        ]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda block: self._send(opened, path, *block), blocks))
        ids = [block_id for block_id, _ in blocks]
        self.call("POST", f"/api/v1/uploads/{opened['video_id']}/commit", {"blocks": ids})
        return str(opened["video_id"])

    def video(self, video_id: str) -> dict[str, Any]:
        return self.call("GET", f"/api/v1/videos/{video_id}")

    def call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        data = b"" if body is None else json.dumps(body).encode()
        answer: dict[str, Any] = json.loads(self._request(method, path, data, {"Content-Type": "application/json"}))
        return answer

    def _send(self, opened: dict[str, Any], path: Path, block_id: str, at: int) -> None:
        with path.open("rb") as file:
            file.seek(at)
            data = file.read(opened["block_size"])
        checksum = base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
        target = urlsplit(opened["block_url"].replace("{block_id}", block_id))
        headers = {**opened["block_headers"], "Content-MD5": checksum}
        self._request("PUT", f"{target.path}?{target.query}", data, headers, host=target.netloc)

    def _request(self, method: str, path: str, data: bytes, headers: dict[str, str], host: str = "") -> bytes:
        """The token is for our site alone; another's address carries its own signature."""
        ours = host in ("", self._host)
        connection = http.client.HTTPConnection(host or self._host, timeout=60)
        try:
            mine = {"Authorization": f"Bearer {self._token}"} if ours else {}
            connection.request(method, path, data, {**headers, **mine})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path} answered {answer.status}: {text[:300]!r}")
        return text
