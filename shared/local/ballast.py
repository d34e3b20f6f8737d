"""Room kept in reserve: on a full disk even a delete needs some, so a file is given up to let it through."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

_BYTES = 1024 * 1024
_ROOM = 8 * _BYTES
"""Free bytes at which the reserve is made again: well above it, or the next write would need it at once."""


class Ballast:
    def __init__(self, path: Path) -> None:
        self._path = path

    def keep(self) -> None:
        """Make it again if it is gone and there is room; without room, later."""
        if self._path.exists():
            return
        with suppress(OSError):
            if shutil.disk_usage(self._path.parent).free > _ROOM:
                self._fill()

    def drop(self) -> bool:
        """Give it up. False if there was none left."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True

    def _fill(self) -> None:
        try:
            # Random bytes, since a file system may store zeros in no space.
            self._path.write_bytes(os.urandom(_BYTES))
        except OSError:
            self._path.unlink(missing_ok=True)
            raise
