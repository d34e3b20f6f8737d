"""Claim check: a body too large for a message lies compressed in a blob, and the message says which one.

On the wire such a message is `{"schema": "matinee.claim", "version": 1, "blob": NAME}`; the blob, in container
"claims", is the UTF-8 text under zlib. Blob first, message second; message deleted first, blob second: a claim always
finds its blob, and what a crash leaves is an old blob, removed by a later send.
"""

import random
import secrets
import zlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import msgspec

from shared.blobs import Blobs
from shared.errors import Invalid, NotFound
from shared.queues import DEFAULT_VISIBILITY, MAX_BODY_BYTES, MAX_TTL, Depth, Message, Queues

CLAIMS = "claims"
_BETWEEN = "#"
_LIFE = MAX_TTL + timedelta(days=1)
"""No message lives longer, so a blob this old has none."""


class _Claim(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="matinee.claim"):
    version: int = 1
    blob: str


_decoder = msgspec.json.Decoder(_Claim)


class ClaimCheckQueues:
    """Queues whose bodies have no limit. A receipt carries the name of its message's blob, behind a mark."""

    def __init__(self, queues: Queues, blobs: Blobs) -> None:
        self._queues = queues
        self._blobs = blobs

    def create(self, name: str, *, metadata: Mapping[str, str] | None = None) -> None:
        self._queues.create(name, metadata=metadata)

    def ensure(self, name: str) -> None:
        self._queues.ensure(name)

    def exists(self, name: str) -> bool:
        return self._queues.exists(name)

    def list_queues(self, *, prefix: str = "") -> list[str]:
        return self._queues.list_queues(prefix=prefix)

    def delete_queue(self, name: str) -> None:
        self._queues.delete_queue(name)

    def clear(self, name: str) -> None:
        self._queues.clear(name)

    def get_metadata(self, name: str) -> Mapping[str, str]:
        return self._queues.get_metadata(name)

    def set_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        self._queues.set_metadata(name, metadata)

    def send(
        self, queue: str, body: str, *, delay: timedelta = timedelta(0), ttl: timedelta = MAX_TTL
    ) -> Message:
        sent, blob = self._checked_in(body)
        message = self._queues.send(queue, sent, delay=delay, ttl=ttl)
        if blob:
            self._remove_left_behind(message)
        return _handed_on(message, body, blob)

    def receive(
        self, queue: str, *, count: int = 1, visibility: timedelta = DEFAULT_VISIBILITY
    ) -> list[Message]:
        messages = self._queues.receive(queue, count=count, visibility=visibility)
        return [self._restored(message) for message in messages]

    def update(
        self, queue: str, message_id: str, receipt: str, *, visibility: timedelta, body: str | None = None
    ) -> str:
        inner, blob = _apart(receipt)
        if body is None:
            return _joined(self._queues.update(queue, message_id, inner, visibility=visibility), blob)
        sent, fresh = self._checked_in(body)
        renewed = self._queues.update(queue, message_id, inner, visibility=visibility, body=sent)
        self._remove(blob)
        return _joined(renewed, fresh)

    def delete(self, queue: str, message_id: str, receipt: str) -> None:
        inner, blob = _apart(receipt)
        self._queues.delete(queue, message_id, inner)
        self._remove(blob)

    def peek(self, queue: str, *, count: int = 1) -> list[Message]:
        return [self._restored(message) for message in self._queues.peek(queue, count=count)]

    def depth(self, queue: str) -> Depth:
        return self._queues.depth(queue)

    def _checked_in(self, body: str) -> tuple[str, str]:
        """What to send, and the blob it names ("" for none). A body that looks like a claim is checked in too."""
        data = _encoded(body)
        if len(data) <= MAX_BODY_BYTES and _claim(body) is None:
            return body, ""
        blob = secrets.token_hex(16)
        self._keep(blob, zlib.compress(data))
        return msgspec.json.encode(_Claim(blob=blob)).decode(), blob

    def _keep(self, blob: str, data: bytes) -> None:
        try:
            self._blobs.put(CLAIMS, blob, data, content_type="application/zlib")
        except NotFound:  # the first large body there ever was
            self._blobs.ensure_container(CLAIMS)
            self._blobs.put(CLAIMS, blob, data, content_type="application/zlib")

    def _restored(self, message: Message) -> Message:
        """A claim without its blob is handed on as it is, for the listener to set aside: no retry would find it."""
        claim = _claim(message.body)
        if claim is None:
            return _handed_on(message, message.body, "")
        try:
            body = zlib.decompress(self._blobs.get(CLAIMS, claim.blob)).decode()
        except (NotFound, Invalid, zlib.error, UnicodeDecodeError):
            return _handed_on(message, message.body, "")
        return _handed_on(message, body, claim.blob)

    def _remove(self, blob: str) -> None:
        try:
            if blob:
                self._blobs.delete(CLAIMS, blob)
        except NotFound:
            return

    def _remove_left_behind(self, sent: Message) -> None:
        """Blobs whose message expired, was cleared or never sent; a random few each time a large body is sent."""
        page = self._blobs.list_blobs(CLAIMS, prefix=f"{random.randrange(16):x}", limit=100)
        for blob in page.blobs:
            if blob.last_modified < sent.inserted - _LIFE:
                self._remove(blob.name)


def _claim(body: str) -> _Claim | None:
    try:
        return _decoder.decode(body)
    except msgspec.MsgspecError:
        return None


def _encoded(body: str) -> bytes:
    try:
        return body.encode()
    except UnicodeEncodeError:
        raise Invalid("a message body is not valid Unicode") from None


def _handed_on(message: Message, body: str, blob: str) -> Message:
    receipt = None if message.receipt is None else _joined(message.receipt, blob)
    return replace(message, body=body, receipt=receipt)


def _joined(receipt: str, blob: str) -> str:
    return f"{receipt}{_BETWEEN}{blob}"


def _apart(receipt: str) -> tuple[str, str]:
    inner, mark, blob = receipt.rpartition(_BETWEEN)
    return (inner, blob) if mark else (receipt, "")
