"""How long to wait: between polls of empty queues, and before a failed ticket is tried again."""

import random
from datetime import timedelta

_LONGEST_RETRY = 300.0
_LONGEST_PAUSE = 15.0
_MOST_DOUBLINGS = 20
"""Beyond this the ceiling holds anyway; it keeps 2**k a small number however long a worker idles."""


class Backoff:
    """Waits of one idle dequeue task, in seconds: min(least + (2^k - 1) * rand(80..120 ms), most), k = waits so far.

    Each task has its own generator, so that many idle ones do not poll in step.
    """

    def __init__(self, least: float, most: float, chance: random.Random | None = None) -> None:
        self._least = least
        self._most = most
        self._chance = chance or random.Random()
        self._waits = 0
        self._reached = False

    @property
    def is_at_ceiling(self) -> bool:
        """Whether the last wait was the longest there is."""
        return self._reached

    def next(self) -> float:
        step = self._chance.uniform(0.080, 0.120)
        wait = min(self._least + ((1 << self._waits) - 1) * step, self._most)
        self._waits = min(self._waits + 1, _MOST_DOUBLINGS)
        self._reached = wait >= self._most
        return wait

    def reset(self) -> None:
        self._waits = 0
        self._reached = False


def retry_delay(tries: int, chance: random.Random) -> timedelta:
    """Before the next counted try: 1 s doubling with each try made, at most 5 minutes, spread by a fifth."""
    return _doubling(tries, _LONGEST_RETRY, chance)


def pause(forgiven: int, chance: random.Random) -> timedelta:
    """Before a try that was nobody's fault is made again: 1 s doubling, at most 15 s, spread by a fifth."""
    return _doubling(forgiven + 1, _LONGEST_PAUSE, chance)


def _doubling(times: int, most: float, chance: random.Random) -> timedelta:
    seconds = min(2.0 ** min(times - 1, _MOST_DOUBLINGS), most)
    return timedelta(seconds=seconds * chance.uniform(0.8, 1.2))
