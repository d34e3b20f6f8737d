"""What was seen of a pool lately, and what that tells: how long a ticket takes, and how many come."""

from collections.abc import Iterator
from dataclasses import dataclass

_WORTH = 3
"""As many tickets' experience as the expectation is given: so many measured ones weigh as much as it does."""
_PIECES = 6
"""Pieces of the time looked back on; the busiest is left out, since a burst is no rate and waits in line already."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One look at a pool, at a moment of a clock that only goes forward. None means that it could not be told.

    `size`: processes it has. `visible`: tickets that wait. `hidden`: tickets held by workers, or delayed. `oldest`:
    the age in seconds of the oldest that waits. `at_work`: processes that may hold a ticket. `done`: tickets that
    ended since the look before, and `seconds` the work on them. `cpu`: the busy share of the machine, 0 to 1.
    """

    at: float
    size: int
    visible: int | None
    hidden: int | None
    oldest: float | None = None
    at_work: int | None = None
    done: int = 0
    seconds: float = 0.0
    cpu: float | None = None

    @property
    def most_at_work(self) -> int:
        """Processes that may hold a ticket: one each at worst, where they do not say."""
        most = self.size if self.hidden is None else min(self.size, self.hidden)
        return most if self.at_work is None else min(self.size, self.at_work)


@dataclass(frozen=True)
class History:
    """Readings, oldest first."""

    readings: tuple[Reading, ...] = ()

    @property
    def last(self) -> Reading | None:
        return self.readings[-1] if self.readings else None

    def plus(self, reading: Reading, *, keep: float) -> "History":
        """With one more, and of the others those of the last `keep` seconds, and one that is older."""
        recent = [one for one in self.readings if one.at > reading.at - keep]
        older = self.readings[len(self.readings) - len(recent) - 1 : len(self.readings) - len(recent)]
        return History((*older, *recent, reading))

    def covers(self, since: float) -> bool:
        return bool(self.readings) and self.readings[0].at <= since

    def since(self, moment: float) -> tuple[Reading, ...]:
        return tuple(one for one in self.readings if one.at >= moment)

    def service(self, expected: float) -> float:
        """Seconds a ticket takes: measured, and the less there is of that, the more as expected."""
        done = sum(one.done for one in self.readings)
        seconds = sum(one.seconds for one in self.readings)
        return (seconds + expected * _WORTH) / (done + _WORTH)

    def rate(self, now: float, seconds: float) -> float:
        """Tickets that come in a second, over the last `seconds`, bursts left out."""
        piece = seconds / _PIECES
        came = [0.0] * _PIECES
        for at, count in self._arrivals():
            place = int((now - at) / piece)
            if 0 <= place < _PIECES:
                came[place] += count
        return (sum(came) - max(came)) / (piece * (_PIECES - 1))

    def _arrivals(self) -> Iterator[tuple[float, int]]:
        """(when seen, how many): what is more than before, and what ended meanwhile."""
        before: int | None = None
        ended = 0
        for one in self.readings:
            ended += one.done
            if one.visible is not None and one.hidden is not None:
                now = one.visible + one.hidden
                if before is not None:
                    yield one.at, max(0, now - before + ended)
                before, ended = now, 0
