"""Whose fault is it that too little came out? Not the file's, where the disk had no room meanwhile."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shared.errors import Busy, Full, MatineeError, Stopped
from workers.media.endings import Broken, Failed
from workers.media.verify import Incomplete

_LOOKS_EVERY = 0.1
_NO_ROOM = 1024**2
"""Bytes. What was written to a disk as full as that is not to be trusted, however whole it looks."""


class Room:
    """Looks at the disk of `folder` from the start until the end, and whenever it is asked."""

    def __init__(self, folder: Path, min_free: int) -> None:
        self._folder = folder
        self._min_free = max(min_free, _NO_ROOM)
        self._least = self._look()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def check(self, at_least: int = 0) -> None:
        """Raises Full if there were fewer bytes free at some time than are to be kept free, or than are given here."""
        self._least = min(self._least, self._look())
        if self._least < (at_least or self._min_free):
            raise Full("no space was left for the work in progress")

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_LOOKS_EVERY):
            self._least = min(self._least, self._look())

    def _look(self) -> int:
        return shutil.disk_usage(self._folder).free


@contextmanager
def room_in(folder: Path, min_free: int) -> Iterator[Room]:
    """Raises Full in place of any failure inside, if the disk of `folder` had less than `min_free` bytes meanwhile.

    Since ffmpeg may end well on a full disk, and leave playlists that are empty or name what is not there.
    """
    room = Room(folder, min_free)
    try:
        yield room
    except (Stopped, Busy, Full):
        raise
    except (MatineeError, Incomplete, Failed, Broken, OSError):
        room.check()
        raise
    else:
        room.check(_NO_ROOM)
    finally:
        room.end()
