"""Wrong passwords cost time: after a few from one address for one name, the next try has to wait."""

import threading
from collections import deque

from shared.clock import Clock
from web.errors import TooMany

MOST = 10
WITHIN = 300.0
_NAME = 100


class Patience:
    """Remembers failures in this process only, which is enough to make guessing slow."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: dict[tuple[str, str], deque[float]] = {}

    def check(self, name: str, address: str) -> None:
        """Raises TooMany after ten failures within five minutes."""
        with self._lock:
            self._forget_old()
            if len(self._failures.get(_key(name, address), ())) >= MOST:
                raise TooMany("too many wrong passwords; wait five minutes and try again")

    def note(self, name: str, address: str, *, fits: bool) -> None:
        with self._lock:
            if fits:
                self._failures.pop(_key(name, address), None)
            else:
                self._failures.setdefault(_key(name, address), deque(maxlen=MOST)).append(self._clock.monotonic())

    def _forget_old(self) -> None:
        since = self._clock.monotonic() - WITHIN
        for key, times in list(self._failures.items()):
            while times and times[0] < since:
                times.popleft()
            if not times:
                del self._failures[key]


def _key(name: str, address: str) -> tuple[str, str]:
    return name.strip().casefold()[:_NAME], address
