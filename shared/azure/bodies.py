"""What is sent: bytes as they are, a stream by way of a file, so that it can be sent again and its length is known."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from shared.errors import Invalid

_PIECE = 1024**2
_IN_MEMORY = 256 * 1024


@dataclass(frozen=True, kw_only=True)
class Body:
    """`size` in bytes; `md5` of all of it; read from its beginning."""

    data: bytes | BinaryIO
    size: int
    md5: bytes


@contextmanager
def whole(data: bytes | BinaryIO, content_md5: bytes | None) -> Iterator[Body]:
    """Raises Invalid, before anything is sent, if the checksum given is another."""
    if isinstance(data, bytes):
        md5 = hashlib.md5(data, usedforsecurity=False).digest()
        _check(md5, content_md5)
        yield Body(data=data, size=len(data), md5=md5)
        return
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as file:
        digest = hashlib.md5(usedforsecurity=False)
        while piece := data.read(_PIECE):
            digest.update(piece)
            file.write(piece)
        size = file.tell()
        _check(digest.digest(), content_md5)
        file.seek(0, os.SEEK_SET)
        yield Body(data=file, size=size, md5=digest.digest())  # type: ignore[arg-type]


def _check(found: bytes, expected: bytes | None) -> None:
    if expected is not None and found != expected:
        raise Invalid("the bytes that arrived do not have the checksum given with them")
