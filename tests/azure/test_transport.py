"""Requests that meet a busy or broken service: tried again within a budget, told to whoever counts."""

import io
import time

import pytest
from azure.core.exceptions import ServiceRequestError, ServiceResponseError
from azure.core.pipeline.transport import HttpRequest, RequestsTransport

from shared.azure.transport import Transport

URL = "http://127.0.0.1:9/account/container/blob?comp=block&sig=secret&blockid=AA"


class Answer:
    def __init__(self, status: int) -> None:
        self.status_code = status
        self.headers: dict[str, str] = {}


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> list:
    """What the network does next: a status or a failure for each try. The network is the edge we do not own."""
    script: list = []

    def send(self, request, **options):
        step = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(request.data, io.BytesIO):
            request.data.read()
        if isinstance(step, Exception):
            raise step
        return Answer(step)

    monkeypatch.setattr(RequestsTransport, "send", send)
    return script


def transport(seen: list, patience: float = 5.0) -> Transport:
    return Transport("blob", lambda *what: seen.append(what), patience=patience)


def test_a_busy_service_is_asked_again_and_each_try_is_counted(wire: list) -> None:
    wire[:] = [503, ServiceRequestError("refused"), 201]
    seen: list = []
    assert transport(seen).send(HttpRequest("PUT", URL)).status_code == 201
    assert [status for *_, status in seen] == [503, 0, 201]


def test_what_is_counted_holds_no_secret(wire: list) -> None:
    wire[:] = [200]
    seen: list = []
    transport(seen).send(HttpRequest("PUT", URL))
    assert seen == [("blob", "PUT", "127.0.0.1:9/account/container/blob?comp=block", 200)]


def test_it_gives_up_when_its_budget_is_spent(wire: list) -> None:
    wire[:] = [503]
    seen: list = []
    started = time.monotonic()
    assert transport(seen, patience=0.6).send(HttpRequest("GET", URL)).status_code == 503
    assert time.monotonic() - started < 1.5
    assert len(seen) >= 3


def test_a_connection_that_stays_broken_is_raised(wire: list) -> None:
    wire[:] = [ServiceRequestError("refused")]
    with pytest.raises(ServiceRequestError):
        transport([], patience=0.3).send(HttpRequest("GET", URL))


def test_a_body_is_sent_again_from_where_it_began(wire: list) -> None:
    wire[:] = [500, 201]
    body = io.BytesIO(b"skipped and sent")
    body.seek(8)
    request = HttpRequest("PUT", URL)
    request.data = body
    positions: list = []
    mover = transport([])
    mover._observe = lambda *_: positions.append(body.tell())
    mover.send(request)
    assert positions == [16, 16]


def test_a_refusal_is_not_tried_again(wire: list) -> None:
    wire[:] = [404]
    seen: list = []
    assert transport(seen).send(HttpRequest("GET", URL)).status_code == 404
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("method", "url", "tries"),
    [
        ("GET", "http://127.0.0.1:9/account/ingest/messages?numofmessages=1", 1),
        ("GET", "http://127.0.0.1:9/account/ingest/messages?peekonly=true", 3),
        ("PUT", "http://127.0.0.1:9/account/ingest/messages/id?popreceipt=x", 3),
    ],
)
def test_messages_are_received_once_since_those_of_a_lost_answer_are_hidden(
    wire: list, method: str, url: str, tries: int
) -> None:
    wire[:] = [ServiceResponseError("the answer was lost"), 503, 200]
    seen: list = []
    asking = Transport("queue", lambda *what: seen.append(what))
    if tries == 1:
        with pytest.raises(ServiceResponseError):
            asking.send(HttpRequest(method, url))
    else:
        asking.send(HttpRequest(method, url))
    assert len(seen) == tries
