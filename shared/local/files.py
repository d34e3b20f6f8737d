"""The bytes of blobs: files under opaque names, written once, on disk before anybody is told of them.

A file is born in the folder `new/` and moves to its own folder when its bytes are on disk. Until its row is committed
its writer holds a lock on it, which ends with the writer however it dies: a file without a row that can be locked has
no writer, and may go.
"""

import fcntl
import hashlib
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from shared.errors import Conflict, Invalid, MatineeError
from shared.local.faults import translated

PIECE = 1024 * 1024
_NEW = "new"


class Written(NamedTuple):
    """A new file: its opaque id, its size in bytes, and the MD5 of its content if that was asked for."""

    file: str
    size: int
    md5: bytes | None


class Files:
    """`known` tells whether a committed row speaks of a file."""

    def __init__(self, root: Path, known: Callable[[str], bool]) -> None:
        self._root = root
        self._new = root / _NEW
        self._known = known
        with translated():
            self._new.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def writing(self, data: bytes | BinaryIO, *, md5: bytes | None = None, want_md5: bool = False) -> Iterator[Written]:
        """Store `data` (read in pieces) durably; the block inside makes it known, and if it does not, the file goes.

        Raises Invalid if its MD5 is not the one given. Failures of `data` itself come through unchanged.
        """
        file = secrets.token_hex(16)
        with translated():
            out = self._begin(file)
        try:
            yield self._fill(file, out, data, md5, want_md5)
        except BaseException:
            os.close(out)
            # A failure may also come after the row was committed, so what is known stays.
            with suppress(OSError, MatineeError):
                self.remove_unknown(file)
            raise
        os.close(out)

    def read(self, file: str, start: int, end: int) -> Iterator[bytes]:
        """Bytes [start, end) of one file, in pieces. Raises Conflict if it was collected meanwhile."""
        with translated():
            try:
                source = self._path(file).open("rb", buffering=0)
            except FileNotFoundError:
                raise Conflict("the blob was overwritten or deleted while it was read; start again") from None
        with source:
            source.seek(start)
            while start < end:
                with translated():
                    piece = source.read(min(PIECE, end - start))
                if not piece:
                    raise Conflict("the blob is shorter than it was; start again")
                start += len(piece)
                yield piece

    def remove(self, file: str) -> int:
        """Returns the bytes freed; 0 if it was gone."""
        with translated():
            return _unlink(self._path(file))

    def remove_unknown(self, file: str) -> int:
        """Remove it unless a row speaks of it, or its writer is alive and may yet write one."""
        with translated():
            return sum(self._remove_unheld(path, file) for path in (self._new / file, self._path(file)))

    def unfinished(self) -> list[str]:
        with translated():
            return _names(self._new)

    def folders(self) -> list[str]:
        """Those of finished files: a file's id begins with its folder's name."""
        with translated():
            return sorted(name for name in _names(self._root) if name != _NEW)

    def finished(self, folder: str) -> list[str]:
        with translated():
            return _names(self._root / folder)

    def _path(self, file: str) -> Path:
        return self._root / file[:2] / file

    def _begin(self, file: str) -> int:
        """A new file, locked by us. A collector may get in between the two; then there is another."""
        while True:
            out = os.open(self._new / file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
            fcntl.flock(out, fcntl.LOCK_EX)
            if os.fstat(out).st_nlink:
                return out
            os.close(out)

    def _fill(self, file: str, out: int, data: bytes | BinaryIO, md5: bytes | None, want_md5: bool) -> Written:
        size, digest = _copy(data, out, hashing=want_md5 or md5 is not None)
        if md5 is not None and digest != md5:
            raise Invalid("the bytes that arrived do not match their Content-MD5; send them again")
        with translated():
            os.fsync(out)
            self._settle(file)
        return Written(file, size, digest)

    def _settle(self, file: str) -> None:
        path = self._path(file)
        if not path.parent.is_dir():
            path.parent.mkdir(exist_ok=True)
            _sync_folder(self._root)
        (self._new / file).rename(path)
        _sync_folder(path.parent)

    def _remove_unheld(self, path: Path, file: str) -> int:
        try:
            held = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return 0
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Asked only now: a writer commits its row before it lets go of the lock.
            return 0 if self._known(file) else _unlink(path)
        except BlockingIOError:
            return 0
        finally:
            os.close(held)


def _copy(data: bytes | BinaryIO, out: int, *, hashing: bool) -> tuple[int, bytes | None]:
    digest = hashlib.md5(usedforsecurity=False) if hashing else None
    size = 0
    for piece in _pieces(data):
        with translated():
            _write_all(out, piece)
        size += len(piece)
        if digest:
            digest.update(piece)
    return size, digest.digest() if digest else None


def _pieces(data: bytes | BinaryIO) -> Iterator[bytes]:
    if isinstance(data, bytes | bytearray | memoryview):
        yield bytes(data)
        return
    while piece := data.read(PIECE):
        yield piece


def _write_all(out: int, piece: bytes) -> None:
    view = memoryview(piece)
    while view:
        view = view[os.write(out, view) :]


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _names(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir()]


def _unlink(path: Path) -> int:
    try:
        size = path.stat().st_size
        path.unlink()
    except FileNotFoundError:
        return 0
    return size
