"""Queues over Azure Queue Storage. Bodies travel as base64, so that any text survives the service's XML."""

import base64
import binascii
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from azure.storage.queue import QueueClient, QueueMessage, QueueServiceClient

from shared.azure.faults import named
from shared.azure.metadata import from_headers, to_headers
from shared.errors import Conflict, Invalid, NotFound
from shared.limits import check_body, check_count, check_span, check_store_name
from shared.queues import DEFAULT_VISIBILITY, MAX_BATCH, MAX_TTL, MAX_VISIBILITY, Depth, Message

_NOW = timedelta(0)
_SECOND = timedelta(seconds=1)


class AzureQueues:
    """The service counts whole seconds: spans are rounded up, so that nothing becomes visible early."""

    def __init__(self, client: QueueServiceClient) -> None:
        self._client = client

    # Queues

    def create(self, name: str, *, metadata: Mapping[str, str] | None = None) -> None:
        check_store_name("queue", name)
        try:
            with named(f"queue {name}"):
                self._client.get_queue_client(name).create_queue(metadata=to_headers(metadata))
        except Invalid:
            # That it is there with equal metadata is a success of the service (204), which its SDK calls a failure.
            if self.get_metadata(name) != dict(metadata or {}):
                raise

    def ensure(self, name: str) -> None:
        check_store_name("queue", name)
        with suppress(Conflict, Invalid), named(f"queue {name}"):
            # There already, with metadata: 409; or with none: 204, which the SDK calls a failure.
            self._client.get_queue_client(name).create_queue()

    def exists(self, name: str) -> bool:
        try:
            self.get_metadata(name)
        except NotFound:
            return False
        return True

    def list_queues(self, *, prefix: str = "") -> list[str]:
        with named("the list of queues"):
            return sorted(str(queue.name) for queue in self._client.list_queues(name_starts_with=prefix or None))

    def delete_queue(self, name: str) -> None:
        with self._queue(name) as queue:
            queue.delete_queue()

    def clear(self, name: str) -> None:
        with self._queue(name) as queue:
            queue.clear_messages()

    def get_metadata(self, name: str) -> Mapping[str, str]:
        with self._queue(name) as queue:
            return from_headers(queue.get_queue_properties().metadata)

    def set_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        headers = to_headers(metadata)
        with self._queue(name) as queue:
            queue.set_queue_metadata(headers)

    # Messages

    def send(self, queue: str, body: str, *, delay: timedelta = _NOW, ttl: timedelta = MAX_TTL) -> Message:
        check_body(body)
        check_span("time to live", ttl, _SECOND, MAX_TTL)
        check_span("delay", delay, _NOW, MAX_VISIBILITY)
        if delay >= ttl:
            raise Invalid("the delay must be shorter than the time to live")
        with self._queue(queue) as client:
            sent = client.send_message(
                _wrapped(body), visibility_timeout=_seconds(delay), time_to_live=_seconds(ttl)
            )
        return _message(sent, body=body)

    def receive(
        self, queue: str, *, count: int = 1, visibility: timedelta = DEFAULT_VISIBILITY
    ) -> list[Message]:
        check_count(count)
        check_span("visibility timeout", visibility, _SECOND, MAX_VISIBILITY)
        with self._queue(queue) as client:
            pages = client.receive_messages(messages_per_page=count, visibility_timeout=_seconds(visibility)).by_page()
            return [_message(one) for one in next(pages, ())]

    def update(
        self, queue: str, message_id: str, receipt: str, *, visibility: timedelta, body: str | None = None
    ) -> str:
        check_span("visibility timeout", visibility, _NOW, MAX_VISIBILITY)
        if body is not None:
            check_body(body)
        with self._queue(queue, message_id) as client:
            updated = client.update_message(
                message_id, pop_receipt=_known(receipt), visibility_timeout=_seconds(visibility),
                content=None if body is None else _wrapped(body),
            )
        return str(updated.pop_receipt)

    def delete(self, queue: str, message_id: str, receipt: str) -> None:
        with self._queue(queue, message_id) as client:
            client.delete_message(message_id, pop_receipt=_known(receipt))

    def peek(self, queue: str, *, count: int = 1) -> list[Message]:
        check_count(count)
        with self._queue(queue) as client:
            return [_message(one) for one in client.peek_messages(max_messages=count)]

    def depth(self, queue: str) -> Depth:
        dates: list[datetime] = []
        with self._queue(queue) as client:
            messages = client.get_queue_properties().approximate_message_count or 0
            if not messages:
                return Depth(messages=0, oldest=None, visible=0)
            front = client.peek_messages(max_messages=MAX_BATCH, raw_response_hook=_note_date(dates))
        visible = len(front) if len(front) < MAX_BATCH else None
        inserted = [one.inserted_on for one in front if one.inserted_on]
        oldest = max(_NOW, dates[-1] - min(inserted)) if inserted else None
        return Depth(messages=max(messages, len(front)), oldest=oldest, visible=visible)

    @contextmanager
    def _queue(self, name: str, message_id: str = "") -> Iterator[QueueClient]:
        check_store_name("queue", name)
        with named(f"message {message_id} of {name}" if message_id else f"queue {name}"):
            yield self._client.get_queue_client(name)


def _message(one: QueueMessage, *, body: str | None = None) -> Message:
    assert one.inserted_on
    assert one.expires_on
    return Message(
        id=str(one.id),
        body=_unwrapped(str(one.content)) if body is None else body,
        receipt=one.pop_receipt,
        dequeue_count=one.dequeue_count or 0,
        inserted=one.inserted_on.astimezone(UTC),
        expires=one.expires_on.astimezone(UTC),
        next_visible=one.next_visible_on.astimezone(UTC) if one.next_visible_on else None,
    )


def _wrapped(body: str) -> str:
    return base64.b64encode(body.encode()).decode()


def _unwrapped(text: str) -> str:
    """What others sent bare is given as it is: a body we cannot read must be set aside, not stop the queue."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return text


def _known(receipt: str) -> str:
    """The service takes an empty receipt for a malformed request; it is one that was never given."""
    return receipt or "none"


def _seconds(span: timedelta) -> int:
    return math.ceil(span.total_seconds())


def _note_date(dates: list[datetime]) -> Callable[[Any], None]:
    """The service's own time, which ages are counted by; never this machine's."""

    def note(response: Any) -> None:
        dates.append(parsedate_to_datetime(response.http_response.headers["date"]).astimezone(UTC))

    return note
