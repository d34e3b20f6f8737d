"""The one reader of the clock; everything else is handed one, so tests of leases and back-off do not sleep."""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

AGREES_WITHIN = timedelta(seconds=3)


class Clock(Protocol):
    """Where time comes from."""

    def now(self) -> datetime:
        """The time, UTC, timezone-aware."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, never going back."""
        ...


class SystemClock:
    """This machine's, put right by what a store on another machine says the time is."""

    def __init__(self) -> None:
        self._behind = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._behind

    def hear(self, said: datetime) -> None:
        """A difference within the seconds that an answer takes to arrive is none."""
        behind = said - datetime.now(UTC)
        self._behind = behind if abs(behind) > AGREES_WITHIN else timedelta(0)

    def monotonic(self) -> float:
        return time.monotonic()
