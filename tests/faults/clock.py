"""A clock kept in a file: every process of a test lives at the same moment, and leases end when a test says so."""

from datetime import UTC, datetime, timedelta
from pathlib import Path


class FileClock:
    def __init__(self, path: Path) -> None:
        self._path = path
        if not path.exists():
            path.write_text("0")

    def now(self) -> datetime:
        return datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=self._passed())

    def monotonic(self) -> float:
        return self._passed()

    def forward(self, seconds: float) -> None:
        self._path.write_text(str(self._passed() + seconds))

    def _passed(self) -> float:
        return float(self._path.read_text())
