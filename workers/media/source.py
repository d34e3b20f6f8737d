"""A source as a loopback URL: ffmpeg reads blobs by range without the store's paths, keys or the network."""

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from shared.blobs import Blob, Blobs
from shared.errors import MatineeError


@contextmanager
def serve(blobs: Blobs, container: str, name: str) -> Iterator[str]:
    """The URL of one blob, at the version it has now, for as long as the context lasts. Raises NotFound."""
    blob = blobs.stat(container, name)
    path = "/" + secrets.token_urlsafe(24)
    server = _Reader(("127.0.0.1", 0), _handler(blobs, blob, path))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{path}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Reader(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that hangs up is how ffmpeg seeks."""


def _handler(blobs: Blobs, blob: Blob, path: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def log_message(self, format: str, *args: Any) -> None:
            """Reads of a source are no news."""

        def _answer(self, *, body: bool) -> None:
            if self.path != path:
                self._head(404, 0)
                return
            span = _range(self.headers.get("Range"), blob.size)
            if span is None:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{blob.size}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            start, end = span
            self._head(206 if "Range" in self.headers else 200, end - start, start)
            if body and end > start:
                self._send(start, end)

        def _head(self, status: int, length: int, start: int = 0) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            self.send_header("Accept-Ranges", "bytes")
            if status == 206:
                self.send_header("Content-Range", f"bytes {start}-{start + length - 1}/{blob.size}")
            self.end_headers()

        def _send(self, start: int, end: int) -> None:
            try:
                for piece in blobs.read(blob.container, blob.name, start=start, end=end, if_match=blob.etag):
                    self.wfile.write(piece)
            except (MatineeError, OSError):
                # The length was promised, so the only honest end of a broken answer is a closed connection.
                self.close_connection = True
                with suppress(OSError):
                    self.connection.close()

    return Handler


def _range(header: str | None, size: int) -> tuple[int, int] | None:
    """[start, end) of a Range header; None if it cannot be satisfied."""
    if header is None or not header.startswith("bytes="):
        return 0, size
    first, _, last = header[len("bytes=") :].partition("-")
    try:
        if not first:
            return max(0, size - int(last)), size
        start = int(first)
        end = min(int(last) + 1, size) if last else size
    except ValueError:
        return 0, size
    return (start, end) if start < size else None
