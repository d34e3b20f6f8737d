"""Whose turn it is to write: a file lock, because SQLite's own waiting lets a writer starve for seconds under load."""

import fcntl
import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shared.errors import Busy

PATIENCE = 2.0
"""Seconds to wait for a turn: the holder may be frozen, and whoever waits for a page should be told so soon.

A hundred writers on two busy cores keep one another waiting a quarter of a second; longer, the disk itself must stall.
"""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.00005, 0.0005
"""Seconds. Four times longer, eight busy writers wait twice as long at worst; shorter, thirty only ask and ask."""


class Turn:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = threading.Lock()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold the one turn there is over all threads and processes. Raises Busy if it does not come in time."""
        until = time.monotonic() + PATIENCE
        if not self._threads.acquire(timeout=PATIENCE):
            raise _too_long()
        try:
            lock = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                _wait_for(lock, until)
                yield
            finally:
                os.close(lock)
        finally:
            self._threads.release()


def _wait_for(lock: int, until: float) -> None:
    pause = _FIRST_PAUSE
    while not _locked(lock):
        if time.monotonic() > until:
            raise _too_long()
        # Jitter keeps many waiters from asking in step.
        time.sleep(pause * random.uniform(0.5, 1.0))
        pause = min(pause * 1.5, _LONGEST_PAUSE)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _too_long() -> Busy:
    return Busy("the storage is being written by others for too long; try again")
