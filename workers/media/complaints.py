"""What a program says on standard error: however much it is, its end is kept, and that it met a full disk."""

import threading
from typing import IO

_KEPT = 4000
_FULL = (b"No space left on device", b"Disk quota exceeded")
_OVERLAP = max(map(len, _FULL)) - 1


class Complaints:
    """Reads `stream` until it ends."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.disk_was_full = False
        self._stream = stream
        self._end = b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self) -> str:
        """Its end, once the program is gone."""
        self._thread.join()
        return self._end.decode(errors="replace")

    def _read(self) -> None:
        with self._stream:
            while piece := self._stream.read1(65536):  # type: ignore[attr-defined]
                fresh = self._end[-_OVERLAP:] + piece
                self.disk_was_full = self.disk_was_full or any(mark in fresh for mark in _FULL)
                self._end = (self._end + piece)[-_KEPT:]
