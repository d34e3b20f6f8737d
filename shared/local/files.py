"""The bytes of blobs: files under opaque names, written once, on disk before anybody is told of them."""

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from shared.errors import Conflict, Invalid
from shared.local.database import translated

PIECE = 1024 * 1024


class Written(NamedTuple):
    """A new file: its opaque id, its size in bytes, and the MD5 of its content when it was asked for."""

    file: str
    size: int
    md5: bytes | None


class Files:
    """Files named by 128 random bits, spread over 256 folders."""

    def __init__(self, root: Path) -> None:
        self._root = root
        with translated():
            for number in range(256):
                (root / f"{number:02x}").mkdir(parents=True, exist_ok=True)

    def path(self, file: str) -> Path:
        return self._root / file[:2] / file

    def write(self, data: bytes | BinaryIO, *, md5: bytes | None = None, want_md5: bool = False) -> Written:
        """Store `data` (read in pieces) durably. Raises Invalid if its MD5 is not the one given; nothing stays then."""
        file = secrets.token_hex(16)
        path = self.path(file)
        try:
            with translated(), path.open("xb", buffering=0) as out:
                size, digest = _copy(data, out, hashing=want_md5 or md5 is not None)
                os.fsync(out.fileno())
            if md5 is not None and digest != md5:
                raise Invalid("the bytes that arrived do not match their Content-MD5; send them again")
            with translated():
                _sync_folder(path.parent)
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise
        return Written(file, size, digest)

    def read(self, file: str, start: int, end: int) -> Iterator[bytes]:
        """Bytes [start, end) of one file. Raises Conflict if it was collected meanwhile."""
        try:
            source = self.path(file).open("rb", buffering=0)
        except FileNotFoundError:
            raise Conflict("the blob was overwritten or deleted while it was read; start again") from None
        with source:
            source.seek(start)
            left = end - start
            while left > 0:
                piece = source.read(min(PIECE, left))
                if not piece:
                    raise Conflict("the blob is shorter than it was; start again")
                left -= len(piece)
                yield piece

    def remove(self, file: str) -> int:
        """Unlink one; returns the bytes freed (0 if it was gone)."""
        path = self.path(file)
        try:
            size = path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            return 0
        return size

    def all(self) -> Iterator[tuple[str, float]]:
        """(file, time of last change in seconds since 1970) of every file there is."""
        for folder in sorted(self._root.iterdir()):
            for entry in os.scandir(folder):
                with suppress(FileNotFoundError):
                    yield entry.name, entry.stat().st_mtime


def _copy(data: bytes | BinaryIO, out: BinaryIO, *, hashing: bool) -> tuple[int, bytes | None]:
    digest = hashlib.md5(usedforsecurity=False) if hashing else None
    size = 0
    for piece in _pieces(data):
        view = memoryview(piece)
        while view:
            view = view[out.write(view) :]
        size += len(piece)
        if digest:
            digest.update(piece)
    return size, digest.digest() if digest else None


def _pieces(data: bytes | BinaryIO) -> Iterator[bytes]:
    if isinstance(data, bytes):
        yield data
        return
    while piece := data.read(PIECE):
        yield piece


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
