"""A request's bytes as a file to read from in pieces, which tells when fewer arrive than were announced."""

import io
from typing import IO, BinaryIO, cast

from flask import request

from shared.errors import Invalid
from web.errors import TooLarge


def incoming(*, most: int) -> BinaryIO:
    """The body of this request. Raises Invalid if its length is not announced, TooLarge above `most`.

    Read straight from the server, without a copy in between: every byte of every upload comes this way.
    """
    length = request.content_length
    if length is None:
        raise Invalid("say how many bytes there are (Content-Length)")
    if length > most:
        raise TooLarge(f"at most {most:,} bytes are taken here, not {length:,}")
    return cast(BinaryIO, _Announced(request.environ["wsgi.input"], length))


class _Announced(io.RawIOBase):
    """Ends with a failure, not quietly, when the sender goes away in the middle: half a block must not replace one."""

    def __init__(self, stream: IO[bytes], length: int) -> None:
        self._stream = stream
        self._length = self._left = length

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read(self._left if size < 0 else min(size, self._left))
        if not piece and self._left and size:
            arrived = self._length - self._left
            raise Invalid(f"only {arrived:,} of {self._length:,} bytes arrived; send them again")
        self._left -= len(piece)
        return piece

    def readable(self) -> bool:
        return True
