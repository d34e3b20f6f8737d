"""Blobs as one loopback URL: ffmpeg reads them by range without the store's paths, keys or the network.

Several blobs read as one file, end to end: an init section and its segments are one fragmented MP4.
"""

import secrets
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import accumulate
from typing import Any

from shared.blobs import Blobs
from shared.errors import Busy, MatineeError, Stopped


@contextmanager
def serve(blobs: Blobs, container: str, *names: str) -> Iterator[str]:
    """The URL of these blobs, at the versions they have now, for as long as the context lasts.

    Raises NotFound at the start; and Busy at the end, whatever came of it in between, if the store failed to deliver
    something that was asked for: what was made of a source read in part is worth nothing, and neither is an error.
    """
    server = _Reader(_Pieces(blobs, container, names))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{server.path}"
    except Stopped:
        raise
    except Exception:
        server.pieces.raise_if_broken()
        raise
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    server.pieces.raise_if_broken()


class _Pieces:
    """Blobs end to end, each pinned to the version it had when first looked at."""

    def __init__(self, blobs: Blobs, container: str, names: Sequence[str]) -> None:
        self._blobs = blobs
        self._found = [blobs.stat(container, name) for name in names]
        self._starts = [0, *accumulate(blob.size for blob in self._found)]
        self._broken: MatineeError | None = None

    @property
    def size(self) -> int:
        return self._starts[-1]

    def read(self, start: int, end: int) -> Iterator[bytes]:
        place = bisect_right(self._starts, start) - 1
        while start < end:
            blob, offset = self._found[place], self._starts[place]
            stop = min(end, self._starts[place + 1])
            yield from self._blobs.read(
                blob.container, blob.name, start=start - offset, end=stop - offset, if_match=blob.etag
            )
            start, place = stop, place + 1

    def broke(self, error: MatineeError) -> None:
        self._broken = error

    def raise_if_broken(self) -> None:
        if self._broken is not None:
            raise Busy(f"the source could not be read: {self._broken}") from self._broken


class _Reader(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, pieces: _Pieces) -> None:
        self.pieces = pieces
        self.path = "/" + secrets.token_urlsafe(24)
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that hangs up is how ffmpeg seeks."""


class _Handler(BaseHTTPRequestHandler):
    """One answer a connection, and it says so: ffmpeg that reuses one loses count of it after a seek past the end, as
    the head of a file cut short asks for, and then waits for bytes nobody owes it."""

    server: _Reader
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a head and a body are two writes: waiting for an answer in between costs 40 ms

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def log_message(self, format: str, *args: Any) -> None:
        """Reads of a source are no news."""

    def _answer(self, *, body: bool) -> None:
        size = self.server.pieces.size
        if self.path != self.server.path:
            self._head(404, 0)
            return
        asked = _range(self.headers.get("Range"), size)
        start, end = asked or (0, size)
        if start >= end and asked:
            self._head(416, 0, f"bytes */{size}")
            return
        self._head(206 if asked else 200, end - start, f"bytes {start}-{end - 1}/{size}" if asked else None)
        if body:
            self._send(start, end)

    def _head(self, status: int, length: int, content_range: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Connection", "close")
        if content_range:
            self.send_header("Content-Range", content_range)
        self.end_headers()

    def _send(self, start: int, end: int) -> None:
        """The length was promised, so the only honest end of a broken answer is a closed connection."""
        try:
            for piece in self.server.pieces.read(start, end):
                self.wfile.write(piece)
        except MatineeError as error:
            self.server.pieces.broke(error)
            self._hang_up()
        except OSError:
            self._hang_up()

    def _hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.close()


def _range(header: str | None, size: int) -> tuple[int, int] | None:
    """[start, end) of one range, empty if it cannot be satisfied; None, for the whole, if it asks for none or oddly."""
    unit, _, span = (header or "").partition("=")
    first, dash, last = span.strip().partition("-")
    if unit != "bytes" or not dash or not (first or last) or not (first + last).isdigit():
        return None
    if not first:
        return max(0, size - int(last)), size
    if last and int(last) < int(first):
        return None
    return int(first), min(int(last) + 1, size) if last else size
