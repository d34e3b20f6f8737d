"""A clock that stands still until a test moves it."""

from datetime import UTC, datetime, timedelta


class HandClock:
    def __init__(self) -> None:
        self._passed = 0.0

    def now(self) -> datetime:
        return datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return 1000.0 + self._passed

    def forward(self, seconds: float) -> None:
        self._passed += seconds
