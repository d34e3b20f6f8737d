"""What a process says of its work: how many tickets it holds, and how many it ended in how much time.

It says so in a file beside its sign of life, so that whoever scales its pool need not ask the storage, and never ends
a process that has work in hand.
"""

import threading
from collections.abc import Callable
from pathlib import Path

import msgspec

from workers.news import Began, News, Settled
from workers.scratch import Scratch, last_said


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """`held` now; `done` since the process began (deleted, or set aside), and the `seconds` of work on them."""

    held: int
    done: int = 0
    seconds: float = 0.0


class Report:
    """One process's. `watch` is to hear its listener's news; `write` is to be called about every second.

    `held` tells how many tickets the process holds. That it has begun one is written before it is worked.
    """

    def __init__(self, scratch: Scratch, held: Callable[[], int]) -> None:
        self._scratch = scratch
        self._held = held
        self._lock = threading.Lock()
        self._done = 0
        self._seconds = 0.0
        self._written: Told | None = None

    def watch(self, news: News) -> None:
        match news:
            case Began():
                self.write()
            case Settled() if news.outcome != "retried":
                with self._lock:
                    self._done += 1
                    self._seconds += news.seconds
            case _:
                pass

    def told(self) -> Told:
        with self._lock:
            return self._told()

    def write(self) -> None:
        """If there is anything new to tell."""
        with self._lock:
            told = self._told()
            if told != self._written:
                self._scratch.say(msgspec.json.encode(told).decode())
                self._written = told

    def _told(self) -> Told:
        return Told(held=self._held(), done=self._done, seconds=round(self._seconds, 3))


def last_told(root: Path, pid: int) -> Told | None:
    """What the process last told; None if it tells nothing that can be read."""
    text = last_said(root, pid)
    try:
        return None if text is None else msgspec.json.decode(text, type=Told)
    except msgspec.MsgspecError:
        return None
