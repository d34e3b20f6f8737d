"""Uploads by clients that never give up, and what they were told: the truth a site is compared with afterwards."""

import base64
import hashlib
import http.client
import json
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

_AGAIN = 0.3


@dataclass
class Entry:
    """One upload that was acknowledged: which clip, whether it is one at all, and when (monotonic)."""

    video: str
    clip: str
    is_video: bool
    at: float


@dataclass
class Ledger:
    """Every id a client was given a 2xx for its commit, and how often it had to ask again."""

    entries: list[Entry] = field(default_factory=list)
    refused: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Uploader:
    """As a careful program uploads: one key for the whole, a checksum for each block, all asked again until it is done."""

    def __init__(self, url: str, token: str, ledger: Ledger, giving_up: threading.Event) -> None:
        self._host = urlsplit(url).netloc
        self._token = token
        self._ledger = ledger
        self._giving_up = giving_up

    def upload(self, name: str, content: bytes, *, is_video: bool = True) -> str | None:
        """The video's id, once its commit was acknowledged; None if all was over before that."""
        key = {"Idempotency-Key": secrets.token_hex(16)}
        opened = self._ask("POST", "/api/v1/uploads", {"filename": f"{name}.mp4", "size": len(content)}, key)
        if opened is None:
            return None
        size, ids = opened["block_size"], []
        for number, at in enumerate(range(0, len(content), size)):
            ids.append(base64.urlsafe_b64encode(f"{number:06d}".encode()).decode())
            if self._send(opened, ids[-1], content[at : at + size]) is None:
                return None
        if self._ask("POST", f"/api/v1/uploads/{opened['video_id']}/commit", {"blocks": ids}, {}) is None:
            return None
        with self._ledger.lock:
            self._ledger.entries.append(Entry(opened["video_id"], name, is_video, time.monotonic()))
        return str(opened["video_id"])

    def _send(self, opened: dict[str, Any], block_id: str, data: bytes) -> bytes | None:
        checksum = base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
        target = urlsplit(opened["block_url"].replace("{block_id}", block_id))
        address = f"{target.path}?{target.query}" if target.query else target.path
        headers = {**opened["block_headers"], "Content-MD5": checksum}
        return self._until_taken("PUT", target.netloc or self._host, address, data, headers)

    def _ask(self, method: str, path: str, body: object, headers: dict[str, str]) -> dict[str, Any] | None:
        data = json.dumps(body).encode()
        text = self._until_taken(method, self._host, path, data, {"Content-Type": "application/json", **headers})
        return None if text is None else json.loads(text)

    def _until_taken(
        self, method: str, host: str, path: str, data: bytes, headers: dict[str, str]
    ) -> bytes | None:
        mine = {"Authorization": f"Bearer {self._token}"} if host == self._host else {}
        while not self._giving_up.is_set():
            connection = http.client.HTTPConnection(host, timeout=10)
            try:
                connection.request(method, path, data, {**headers, **mine})
                answer = connection.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException):
                answer = None
            finally:
                connection.close()
            if answer is not None and answer.status < 300:
                return text
            if answer is not None and answer.status < 500 and answer.status not in (408, 429):
                raise AssertionError(f"{method} {path} answered {answer.status}: {text[:300]!r}")
            with self._ledger.lock:
                self._ledger.refused += 1
            time.sleep(_AGAIN)
        return None
