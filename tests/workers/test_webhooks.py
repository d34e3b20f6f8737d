"""Webhooks to a real receiver that takes, fails, stalls, drips and redirects; and to addresses that are refused."""

import base64
import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from shared.errors import Busy, Invalid
from shared.topics.cloudevents import CloudEvent, decode
from workers import webhooks

NOW = datetime(2030, 1, 1, tzinfo=UTC)
EVENT = CloudEvent(id="e1", type="video.published", subject="4Rk9mZQ2xLp", time=NOW, properties={"channel": "anna"})
PRIVATE = ("127.0.0.1", "localhost")


class Receiver:
    """`status` is what it answers; `requests` what it got."""

    def __init__(self) -> None:
        self.status = 204
        self.location = ""
        self.drip = 0.0
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append((self.path, dict(self.headers), body))
                try:
                    for _ in range(100 if receiver.drip else 0):
                        self.wfile.write(b"H")
                        self.wfile.flush()
                        time.sleep(receiver.drip)
                except OSError:  # it was cut off
                    return
                self.send_response(receiver.status)
                if receiver.location:
                    self.send_header("Location", receiver.location)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook?site=1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


def post(receiver: Receiver, secret: str | None = None, private: tuple[str, ...] = PRIVATE) -> None:
    webhooks.post(EVENT, receiver.url, secret or webhooks.new_secret(), now=NOW, private=private)


def test_the_event_arrives_signed_so_that_the_receiver_can_check_it(receiver: Receiver) -> None:
    """Checked as Standard Webhooks tells receivers to, by other code than ours."""
    secret = webhooks.new_secret()
    post(receiver, secret)
    [(path, headers, body)] = receiver.requests
    assert path == "/hook?site=1"
    assert decode(body.decode()) == EVENT
    assert json.loads(body)["specversion"] == "1.0"
    assert headers["Content-Type"] == "application/cloudevents+json"
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert (headers["webhook-id"], headers["webhook-timestamp"]) == ("e1", str(int(NOW.timestamp())))


def test_the_signature_is_that_of_the_standards_own_example() -> None:
    """The vector of the Standard Webhooks reference libraries."""
    body = b'{"test": 2432232314}'
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    signed = webhooks.signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("status", [400, 404, 410, 500, 503])
def test_what_is_not_taken_is_said(receiver: Receiver, status: int) -> None:
    receiver.status = status
    with pytest.raises(Busy, match=f"answered {status}"):
        post(receiver)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed_wherever_it_leads(receiver: Receiver, status: int) -> None:
    receiver.status, receiver.location = status, "http://169.254.169.254/latest/meta-data"
    with pytest.raises(Busy, match="redirects are not followed"):
        post(receiver)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://[::1]:{port}/", "http://0.0.0.0:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/", "http://2130706433:{port}/", "http://127.1:{port}/", "http://10.0.0.1/",
        "http://169.254.169.254/", "http://192.168.1.1/", "http://[fd00::1]/", "http://224.0.0.1/", "http://100.64.0.1/",
    ],
)  # fmt: skip
def test_an_address_that_is_not_public_is_refused_however_it_is_written(receiver: Receiver, url: str) -> None:
    with pytest.raises(Busy, match=r"not a public address|could not be found"):
        webhooks.post(EVENT, url.format(port=receiver.port), webhooks.new_secret(), now=NOW)
    assert receiver.requests == []


def test_the_address_that_was_checked_is_the_one_connected_to(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that gives a public address first and ours afterwards. Names are the edge we do not own."""
    answers = iter(["93.184.215.14", "127.0.0.1", "127.0.0.1"])
    real = socket.getaddrinfo

    def looked_up(host: str, *rest: Any, **more: Any) -> Any:
        return real(next(answers) if host == "rebinding.example" else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    monkeypatch.setattr(webhooks, "_CONNECT", 0.5)
    with pytest.raises(Busy, match="did not take it"):
        webhooks.post(EVENT, f"http://rebinding.example:{receiver.port}/", webhooks.new_secret(), now=NOW)
    assert receiver.requests == []


def test_one_that_stalls_is_waited_for_only_so_long(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "_ANSWER", 0.5)
    receiver.drip = 3.0
    began = time.monotonic()
    with pytest.raises(Busy, match="did not take it"):
        post(receiver)
    assert time.monotonic() - began < 2


def test_one_that_drips_is_cut_off(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "LONGEST", 1.0)
    receiver.drip = 0.1
    began = time.monotonic()
    with pytest.raises(Busy, match="did not take it"):
        post(receiver)
    assert time.monotonic() - began < 3


def test_one_that_is_not_there_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Busy, match="did not take it"):
        webhooks.post(EVENT, f"http://127.0.0.1:{port}/", webhooks.new_secret(), now=NOW, private=PRIVATE)


@pytest.mark.parametrize(
    "url", ["", "example.org", "ftp://example.org/", "https://", "http://a:b@example.org/", "http://x:99999/", "file:///etc/passwd", "http://example.org/#x"]
)
def test_what_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(Invalid, match=r"https://example\.org"):
        webhooks.check_url(url)
