"""The embedded backend under test: a folder, a clock moved by hand, and a small server for the links it signs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.parse import parse_qs, unquote, urlsplit
from urllib.request import Request, urlopen

import pytest

from shared.errors import Forbidden
from shared.local.blobs import LocalBlobs
from shared.local.queues import LocalQueues
from shared.local.tables import LocalTables
from tests.contract.backend import Backend, Fetch
from tests.workers.clock import HandClock

SECRET = "signs links in tests"


@contextmanager
def local_backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    folder, clock = request.getfixturevalue("tmp_path_factory").mktemp("store"), HandClock()
    blobs = LocalBlobs(folder / "blobs", clock, secret=SECRET)
    with _served(blobs) as fetch:
        yield Backend(
            blobs=blobs,
            queues=LocalQueues(folder / "queues.db", clock),
            tables=LocalTables(folder / "tables.db", clock),
            wait=clock.forward,
            fetch=fetch,
            collects_by_itself=False,
            waits_for_days=True,
        )


@contextmanager
def _served(blobs: LocalBlobs) -> Iterator[Fetch]:
    """The part of the web role that answers signed links."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("read", lambda container, name: blobs.get(container, name))

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self._answer("write", lambda container, name: blobs.put(container, name, body) and b"")

        def _answer(self, right, act) -> None:
            url = urlsplit(self.path)
            _, _, container, name = unquote(url.path).split("/", 3)
            query = {key: values[0] for key, values in parse_qs(url.query).items()}
            try:
                if query["right"] != right:
                    raise Forbidden("another right")
                blobs.check_signature(container, name, right, int(query["expires"]), query["signature"])
                status, body = 200, act(container, name)
            except Forbidden:
                status, body = 403, b""
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield lambda method, url, body: _fetch(f"http://127.0.0.1:{server.server_port}{url}", method, body)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _fetch(url: str, method: str, body: bytes | None) -> tuple[int, bytes]:
    try:
        with urlopen(Request(url, data=body, method=method), timeout=10) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()
