"""One upload is one trace: from the browser's request through every ticket and try to publishing."""

import time
from collections.abc import Callable

import msgspec
import pytest
from flask import Flask
from flask.testing import FlaskClient
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from shared.services import Services
from shared.tickets import QUEUES, decode
from shared.tracing import OpenTelemetryTracing, open_tracing
from tests.web.conftest import Uploading
from tests.workers.clips import a_clip
from tests.workers.making import a_video, an_ingest
from web.app import create_app
from workers.handlers.table import Handler, find_handlers
from workers.lease import LeaseKeeper
from workers.listener import Listener, Look
from workers.scratch import Scratch
from workers.turns import Turns

CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def services(services: Services, spans: InMemorySpanExporter) -> Services:
    object.__setattr__(services, "tracing", OpenTelemetryTracing("test", spans, at_once=True))
    return services


def work_all(services: Services, handlers: dict[str, Handler] | None = None) -> None:
    scratch, queues = Scratch(services.scratch), dict.fromkeys(QUEUES, 1)
    listener = Listener(services, queues, handlers or find_handlers(), keeper=LeaseKeeper(), scratch=scratch)
    while listener.step(Turns(queues)) is Look.WORK:
        pass
    scratch.close()


def by_name(spans: InMemorySpanExporter) -> dict[str, list[ReadableSpan]]:
    found: dict[str, list[ReadableSpan]] = {}
    for span in spans.get_finished_spans():
        found.setdefault(span.name, []).append(span)
    return found


def test_an_upload_is_one_trace_from_the_request_to_the_index(
    uploading: Callable[..., Uploading], services: Services, spans: InMemorySpanExporter
) -> None:
    upload = uploading(a_clip(seconds=1, width=640, height=360))
    upload.open()
    upload.put_all()
    upload.commit()
    work_all(services)
    found = by_name(spans)
    [commit] = found["POST /api/v1/uploads/<video_id>/commit"]
    [ingest] = found["ingest"]
    assert ingest.parent.span_id == commit.context.span_id
    assert {span.parent.span_id for span in found["encode"]} == {ingest.context.span_id}
    tries = [span for name, spans in found.items() if "/" not in name for span in spans]
    assert {span.context.trace_id for span in tries} == {commit.context.trace_id}
    ids = {span.context.span_id for span in tries} | {commit.context.span_id}
    assert all(span.parent.span_id in ids for span in tries), "every try is under whoever sent its ticket"
    assert found["assemble"]
    assert found["index"][-1].attributes["matinee.video"] == commit.attributes["matinee.video"]
    assert {span.attributes["matinee.number"] for span in tries} == {1}


def test_a_try_that_failed_and_the_next_are_side_by_side(
    uploading: Callable[..., Uploading], services: Services, spans: InMemorySpanExporter
) -> None:
    upload = uploading(b"x" * 10_000)
    upload.open()
    upload.put_all()
    upload.commit()
    tries = []

    def fails_once(tickets: object, services: Services, attempt: object) -> None:
        tries.append(1)
        if len(tries) == 1:
            raise OSError(28, "no space left on device")

    work_all(services, {"ingest": Handler(run=fails_once)})
    time.sleep(1.4)
    work_all(services, {"ingest": Handler(run=fails_once)})
    [first, second] = by_name(spans)["ingest"]
    assert first.parent.span_id == second.parent.span_id
    assert not first.status.is_ok
    assert "no space left" in first.status.description
    assert second.status.description is None
    assert first.attributes["matinee.ticket"] == second.attributes["matinee.ticket"]
    assert first.attributes["matinee.attempt"] != second.attributes["matinee.attempt"]


def test_a_request_goes_on_with_its_callers_trace(nobody: FlaskClient, spans: InMemorySpanExporter) -> None:
    nobody.get("/health/live", headers={"traceparent": CALLER})
    nobody.get("/health/live", headers={"traceparent": "nonsense"})
    told, own = by_name(spans)["GET /health/live"]
    assert f"{told.context.trace_id:032x}" == CALLER.split("-")[1]
    assert f"{told.parent.span_id:016x}" == CALLER.split("-")[2]
    assert own.parent is None
    assert told.attributes["matinee.status"] == 200


@pytest.fixture
def untraced(services: Services) -> Flask:
    object.__setattr__(services, "tracing", open_tracing("", "test"))
    app = create_app(services)
    app.config["TESTING"] = True
    return app


def test_nothing_is_traced_unless_asked_for(untraced: Flask, services: Services, spans: InMemorySpanExporter) -> None:
    untraced.test_client().get("/health/live", headers={"traceparent": CALLER})
    assert spans.get_finished_spans() == ()


def test_a_ticket_of_an_untraced_site_keeps_the_context_it_came_with(services: Services) -> None:
    object.__setattr__(services, "tracing", open_tracing("", "test"))
    video = a_video(services, source=a_clip())
    services.tickets.send(msgspec.structs.replace(an_ingest(services, video), traceparent=CALLER))
    scratch = Scratch(services.scratch)
    Listener(services, {"ingest": 1}, find_handlers(), keeper=LeaseKeeper(), scratch=scratch).step(Turns({"ingest": 1}))
    scratch.close()
    sent = [decode(message.body) for queue in QUEUES for message in services.queues.peek(queue, count=32)]
    assert sent
    assert {ticket.traceparent for ticket in sent} == {CALLER}
