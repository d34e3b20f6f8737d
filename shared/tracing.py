"""Traces: from the request that sent a ticket through every try it brings about, told to OpenTelemetry where asked to.

Each span's context travels as a W3C `traceparent` in the ticket, so a trace crosses processes, machines and retries.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Protocol

Kind = Literal["server", "consumer"]
HEADER = "traceparent"


class Span(Protocol):
    """One request or one try."""

    @property
    def traceparent(self) -> str | None:
        """What it sends goes out under this; None where nothing is traced."""
        ...

    def say(self, **about: str | int | float) -> None: ...

    def fail(self, reason: str) -> None: ...


class Tracing(Protocol):
    """Safe to share between threads."""

    def span(
        self, name: str, *, kind: Kind, parent: str | None, links: Sequence[str | None] = (), **about: str | int
    ) -> "Opened":
        """A child of `parent`, or a trace of its own; `links` are others it belongs to as well."""
        ...


Opened = Any
"""A context manager that gives the Span."""


class _Silent:
    """Passes on what it was given."""

    def __init__(self, traceparent: str | None) -> None:
        self.traceparent = traceparent

    def say(self, **about: str | int | float) -> None:
        del about

    def fail(self, reason: str) -> None:
        del reason


class NoTracing:
    """Costs nothing; a context that came with a ticket goes on with the next."""

    @contextmanager
    def span(
        self, name: str, *, kind: Kind, parent: str | None, links: Sequence[str | None] = (), **about: str | int
    ) -> Iterator[Span]:
        del name, kind, links, about
        yield _Silent(parent)


class _Told:
    def __init__(self, span: Any, traceparent: str | None) -> None:
        self._span = span
        self.traceparent = traceparent

    def say(self, **about: str | int | float) -> None:
        self._span.set_attributes(_named(about))

    def fail(self, reason: str) -> None:
        from opentelemetry.trace import Status, StatusCode

        self._span.set_status(Status(StatusCode.ERROR, reason))


class OpenTelemetryTracing:
    """`exporter` is one of OpenTelemetry's; with `at_once` each span is exported as it ends, for tests."""

    def __init__(self, service: str, exporter: Any, *, at_once: bool = False) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = TracerProvider(resource=Resource.create({"service.name": service}))
        processor = SimpleSpanProcessor(exporter) if at_once else BatchSpanProcessor(exporter)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("matinee")
        self._carrier = TraceContextTextMapPropagator()

    @contextmanager
    def span(
        self, name: str, *, kind: Kind, parent: str | None, links: Sequence[str | None] = (), **about: str | int
    ) -> Iterator[Span]:
        from opentelemetry.trace import SpanKind, set_span_in_context

        kinds = {"server": SpanKind.SERVER, "consumer": SpanKind.CONSUMER}
        with self._tracer.start_as_current_span(
            name, context=self._context(parent), kind=kinds[kind], links=self._links(links), attributes=_named(about)
        ) as span:
            carried: dict[str, str] = {}
            self._carrier.inject(carried, context=set_span_in_context(span))
            yield _Told(span, carried.get(HEADER))

    def _context(self, traceparent: str | None) -> Any:
        from opentelemetry.context import Context

        return self._carrier.extract({HEADER: traceparent} if traceparent else {}, context=Context())

    def _links(self, traceparents: Sequence[str | None]) -> list[Any]:
        from opentelemetry.trace import Link, get_current_span

        contexts = [get_current_span(self._context(one)).get_span_context() for one in traceparents if one]
        return [Link(context) for context in contexts if context.is_valid]


def open_tracing(how: str, service: str) -> Tracing:
    """`how` is MATINEE_TRACE: empty for none, `otlp` for the collector that OTEL_EXPORTER_OTLP_ENDPOINT names."""
    if not how:
        return NoTracing()
    # Only where it is asked for: it takes a good part of a second to load.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OpenTelemetryTracing(f"matinee-{service}", OTLPSpanExporter())


def _named(about: Mapping[str, str | int | float]) -> dict[str, str | int | float]:
    return {f"matinee.{name}": value for name, value in about.items()}
