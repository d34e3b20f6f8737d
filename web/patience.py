"""Wrong passwords cost time: after a few from one address for one name, the next try has to wait."""

import threading
import time
from collections import deque
from typing import ClassVar

from flask import request

from web.errors import TooMany

_MOST = 10
_WITHIN = 300.0


class SignInPatience:
    """Remembers failures in this process only, which is enough to make guessing slow."""

    _failures: ClassVar[dict[tuple[str, str], deque[float]]] = {}
    _lock = threading.Lock()

    @classmethod
    def check(cls, name: str | None) -> None:
        """Raises TooMany after ten failures within five minutes."""
        with cls._lock:
            recent = cls._recent(name)
            if len(recent) >= _MOST:
                raise TooMany("too many wrong passwords; wait five minutes and try again")

    @classmethod
    def note(cls, name: str | None, *, fits: bool) -> None:
        with cls._lock:
            if fits:
                cls._failures.pop(_key(name), None)
                return
            cls._recent(name).append(time.monotonic())

    @classmethod
    def _recent(cls, name: str | None) -> deque[float]:
        since = time.monotonic() - _WITHIN
        for key in [key for key, times in cls._failures.items() if not times or times[-1] < since]:
            del cls._failures[key]
        recent = cls._failures.setdefault(_key(name), deque(maxlen=_MOST))
        while recent and recent[0] < since:
            recent.popleft()
        return recent


def _key(name: str | None) -> tuple[str, str]:
    return (name or "").strip().casefold(), request.remote_addr or ""
