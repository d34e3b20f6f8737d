"""Every request to the account goes through here: counted, and tried again within a budget when the service is busy."""

import random
import time
from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import requests
from azure.core.exceptions import IncompleteReadError, ServiceRequestError, ServiceResponseError
from azure.core.pipeline.transport import RequestsTransport
from requests.adapters import HTTPAdapter

READ_TIMEOUT = 30.0
"""Seconds without a byte of the answer; an operation of the service is given 30 s by its documentation."""
MESSAGE_TIMEOUT = 5.0
"""The same for what is asked of one queue: a lease of 30 s is renewed at 10 s, and lost by 25 s."""
POOL = 64
_PIECE = 256 * 1024
"""Bytes of an answer read at a time."""
BUSY = (408, 429, 500, 502, 503, 504)
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0

Observe = Callable[[str, str, str, int], None]
"""Told of each request that went out: the store, its method, its address without secrets, its status (0: none)."""


class Transport(RequestsTransport):  # type: ignore[misc]  # the SDK loads it lazily, out of sight of types
    """Of one store (blob, queue or table), safe to share between threads.

    `hear` is told the service's time. `patience` is the seconds spent on tries of one request before the caller is told
    that the store is busy.
    """

    def __init__(
        self, store: str, observe: Observe, hear: Callable[[datetime], None] = lambda _: None, *, patience: float = 8.0
    ) -> None:
        session = requests.Session()
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(pool_connections=8, pool_maxsize=POOL, max_retries=0))
        super().__init__(
            session=session, session_owner=False, use_env_settings=False,
            connection_timeout=patience, read_timeout=READ_TIMEOUT, connection_data_block_size=_PIECE,
        )  # fmt: skip
        self._store = store
        self._observe = observe
        self._hear = hear
        self._patience = patience
        self._chance = random.Random()

    def send(self, request: Any, **options: Any) -> Any:
        """Tries again what the service was too busy for, or what broke on the way, each time later by chance.

        A body that cannot be read again is sent once. What was done although its answer was lost is done twice, as
        the contracts allow: a message sent twice, an insert that finds itself. Messages are received once: those whose
        answer was lost are hidden already, and asking again is what a listener does anyway.
        """
        if self._store == "queue" and "/messages" in request.url:
            options.setdefault("read_timeout", MESSAGE_TIMEOUT)
        start = _position(request)
        until = time.monotonic() + (0 if self._receives(request) else self._patience)
        tries = 0
        while True:
            try:
                answer = super().send(request, **options)
            except (ServiceRequestError, ServiceResponseError, IncompleteReadError):
                self._observe(self._store, request.method, _address(request.url), 0)
                if not self._again(request, start, tries, until):
                    raise
            else:
                self._observe(self._store, request.method, _address(request.url), answer.status_code)
                self._tell_time(answer)
                if answer.status_code not in BUSY or not self._again(request, start, tries, until):
                    return answer
            tries += 1

    def _receives(self, request: Any) -> bool:
        parts = urlsplit(request.url)
        asks = self._store == "queue" and request.method == "GET" and parts.path.endswith("/messages")
        return asks and "peekonly" not in parts.query

    def _tell_time(self, answer: Any) -> None:
        said = answer.headers.get("Date")
        if said is not None:
            self._hear(parsedate_to_datetime(said))

    def _again(self, request: Any, start: int | None, tries: int, until: float) -> bool:
        pause = min(_FIRST_PAUSE * 2**tries, _LONGEST_PAUSE) * self._chance.uniform(0.5, 1.0)
        if time.monotonic() + pause > until:
            return False
        body = request.data
        if hasattr(body, "read"):
            if start is None:
                return False
            body.seek(start)
        time.sleep(pause)
        return True


def _position(request: Any) -> int | None:
    try:
        return int(request.data.tell())
    except (AttributeError, OSError):
        return None


def _address(url: str) -> str:
    """Path and the parts of the query that say which operation it is; never a signature."""
    parts = urlsplit(url)
    told = [word for word in parts.query.split("&") if word.partition("=")[0] in ("comp", "restype")]
    return f"{parts.netloc}{parts.path}?{'&'.join(told)}"
