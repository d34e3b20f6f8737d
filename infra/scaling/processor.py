"""How busy this machine's processor is, between one look and the next."""

from pathlib import Path

_STAT = Path("/proc/stat")
_IDLE = (3, 4)
"""Of the numbers in its first line (proc_stat(5)): idle, and waiting for a disk."""

_SHORTEST = 50
"""Ticks (hundredths of a second of one core) that a share is worth telling of; until then it is the one before."""


class Processor:
    """`busy` is the share since the look before, 0 to 1; None at the first, and where the system does not tell."""

    def __init__(self, stat: Path = _STAT) -> None:
        self._stat = stat
        self._before: tuple[int, int] | None = None
        self._last: float | None = None

    def busy(self) -> float | None:
        now, before = self._times(), self._before
        if now is None or before is None:
            self._before, self._last = now, None
        elif now[0] - before[0] >= _SHORTEST:
            self._before, self._last = now, 1 - (now[1] - before[1]) / (now[0] - before[0])
        return self._last

    def _times(self) -> tuple[int, int] | None:
        """(all, idle), in ticks since the machine began. Guests' time is in the user's already."""
        try:
            numbers = [int(word) for word in self._stat.read_text().splitlines()[0].split()[1:9]]
        except (OSError, ValueError, IndexError):
            return None
        return sum(numbers), sum(numbers[place] for place in _IDLE)
