"""Tickets set aside: why, their history and their raw body, kept for an operator to look at, replay or drop.

The table is the truth: one row a ticket, keyed by the queue and message it came from, so a worker that dies half way
through setting aside leaves one record however often it is done again. The message in `<queue>-poison` only announces
the row to whoever watches queues. A body too large for a row lies in a blob of its own, in container "poison" under the
ticket's id: written before the row and removed after it, so a row always finds its body.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta

import msgspec

from shared.blobs import Blob, Blobs, every_page
from shared.clock import Clock
from shared.errors import Conflict, Invalid, Lost, NotFound
from shared.queues import MAX_BATCH, Message, Queues
from shared.reopening import reopen
from shared.tables import MAX_BYTES, Entity, Tables, Value, every_entity
from shared.tickets import POISON_SUFFIX, QUEUES, Ticket, VideoTicket, decode
from shared.videos import Catalog

POISON = "poison"
"""The table, and the container of large bodies."""
_LOOK = timedelta(seconds=30)
_MAX_REASON = 4000
_REPLAY = timedelta(minutes=1)
"""Far longer than a replay takes; one this old died in the middle."""


class Poisoned(msgspec.Struct, frozen=True, kw_only=True):
    """One ticket set aside. `body` is what was received, byte for byte; `history` its earlier reasons, oldest first.

    A body that lies `apart`, in a blob, is here only if one ticket was asked for, not in a list.
    """

    queue: str
    message: str
    reason: str
    history: tuple[str, ...] = ()
    tries: int
    at: datetime
    body: str = ""
    apart: bool = False
    announcement: tuple[str, str] | None = None
    """Id and receipt of the message in the poison queue; the receipt is dead if somebody took that message."""
    replaying: datetime | None = None
    """Since when an operator has been sending it again."""
    etag: str = ""

    @property
    def id(self) -> str:
        return f"{self.queue}/{self.message}"


class _Announcement(msgspec.Struct, frozen=True, kw_only=True):
    """What a poison queue's message says."""

    poison: str
    reason: str


class Poison:
    """The tickets set aside, over tables, blobs and queues."""

    def __init__(self, tables: Tables, blobs: Blobs, queues: Queues, catalog: Catalog, clock: Clock) -> None:
        self._tables = tables
        self._blobs = blobs
        self._queues = queues
        self._catalog = catalog
        self._clock = clock

    def ensure(self) -> None:
        self._tables.ensure_table(POISON)
        self._blobs.ensure_container(POISON)

    def set_aside(self, queue: str, message: Message, reason: str, history: tuple[str, ...] = ()) -> Poisoned:
        """Record and announce it; the caller then deletes the original. Repeating it leaves one of each."""
        body = message.body.encode()
        poisoned = Poisoned(
            queue=queue, message=message.id, reason=reason[:_MAX_REASON], history=history,
            tries=message.dequeue_count, at=self._clock.now(), body=message.body, apart=len(body) > MAX_BYTES,
        )
        if poisoned.apart:
            self._blobs.put(POISON, poisoned.id, body, content_type="text/plain; charset=utf-8")
        try:
            self._tables.insert(POISON, queue, message.id, _properties(poisoned))
        except Conflict:
            return self._announce_again(self.show(poisoned.id))
        return self._announce(poisoned)

    def list(self, queue: str | None = None) -> Iterator[Poisoned]:
        return (_poisoned(entity) for entity in every_entity(self._tables, POISON, queue))

    def show(self, poison_id: str) -> Poisoned:
        """Raises NotFound."""
        poisoned = self._record(poison_id)
        if not poisoned.apart:
            return poisoned
        try:
            body = self._blobs.get(POISON, poisoned.id)
        except NotFound:
            raise NotFound(f"the body of {poison_id} is gone") from None
        return msgspec.structs.replace(poisoned, body=body.decode())

    def replay(self, poison_id: str) -> Ticket:
        """Send it again as if new: no tries counted, its video open for work again.

        Of many at once one succeeds, the others raise NotFound or Conflict. Raises Invalid, and keeps it, if the body
        is no ticket we can read. The record goes last: a replay that died in the middle can be made again after a
        minute, and may then send the ticket twice, which is harmless; none is ever lost.
        """
        poisoned = self.show(poison_id)
        ticket = msgspec.structs.replace(decode(poisoned.body), forgiven=0)
        as_new = _as_new(poisoned.body)
        poisoned = self._claim(poisoned)
        if isinstance(ticket, VideoTicket):
            reopen(self._catalog, ticket.video)
        self._queues.send(poisoned.queue, as_new)
        self._drop(poisoned)
        return ticket

    def purge(self, poison_id: str) -> None:
        """Drop it for good. Raises NotFound."""
        self._drop(self._record(poison_id))

    def purge_all(self, queue: str | None = None) -> int:
        """Drop every one (of a queue), its announcements too; returns how many."""
        poisoned = list(self.list(queue))
        for one in poisoned:
            self._remove(one)
        for name in [queue] if queue else QUEUES:
            self._queues.clear(name + POISON_SUFFIX)
        return len(poisoned)

    def left_behind(self) -> Iterator[Blob]:
        """Bodies without a row: of a ticket being set aside at this moment, or where a death cut that short."""
        for page in every_page(self._blobs, POISON):
            yield from (blob for blob in page.blobs if self._is_left_behind(blob))

    def forget_body(self, blob: Blob) -> None:
        """Remove one left behind, unless it was written again meanwhile."""
        with suppress(NotFound, Conflict):
            self._blobs.delete(POISON, blob.name, if_match=blob.etag)

    def _is_left_behind(self, blob: Blob) -> bool:
        try:
            return not self._record(blob.name).apart
        except (NotFound, Invalid):
            return True

    def _record(self, poison_id: str) -> Poisoned:
        queue, message = _key(poison_id)
        try:
            return _poisoned(self._tables.get(POISON, queue, message))
        except NotFound:
            raise NotFound(f"no ticket {poison_id} is set aside") from None

    def _remove(self, poisoned: Poisoned) -> None:
        self._tables.delete(POISON, poisoned.queue, poisoned.message, if_match=poisoned.etag)
        if poisoned.apart:
            with suppress(NotFound):
                self._blobs.delete(POISON, poisoned.id)

    def _announce(self, poisoned: Poisoned) -> Poisoned:
        text = _Announcement(poison=poisoned.id, reason=poisoned.reason[:500])
        sent = self._queues.send(poisoned.queue + POISON_SUFFIX, msgspec.json.encode(text).decode())
        return self._note(poisoned, sent)

    def _announce_again(self, poisoned: Poisoned) -> Poisoned:
        """For a worker that comes after one that died in the middle: the announcement may be out, or not."""
        if poisoned.announcement is not None:
            return poisoned
        found = self._find(poisoned)
        return self._note(poisoned, found) if found else self._announce(poisoned)

    def _note(self, poisoned: Poisoned, announcement: Message) -> Poisoned:
        noted = msgspec.structs.replace(poisoned, announcement=(announcement.id, announcement.receipt or ""))
        etag = self._tables.upsert(POISON, poisoned.queue, poisoned.message, _properties(noted))
        return msgspec.structs.replace(noted, etag=etag)

    def _find(self, poisoned: Poisoned) -> Message | None:
        """Takes every message for a moment, as peeking shows only 32; slow, and rare: a receipt must be missing."""
        queue, taken, found = poisoned.queue + POISON_SUFFIX, [], None
        while found is None and (messages := self._queues.receive(queue, count=MAX_BATCH, visibility=_LOOK)):
            taken += messages
            found = next((message for message in messages if _announces(message.body) == poisoned.id), None)
        for message in taken:
            if message is not found:
                self._queues.update(queue, message.id, message.receipt or "", visibility=timedelta(0))
        return found

    def _claim(self, poisoned: Poisoned) -> Poisoned:
        now = self._clock.now()
        if poisoned.replaying is not None and now - poisoned.replaying < _REPLAY:
            raise Conflict(f"{poisoned.id} is being replayed; if that failed, try again in a minute")
        claimed = msgspec.structs.replace(poisoned, replaying=now)
        etag = self._tables.update(
            POISON, claimed.queue, claimed.message, _properties(claimed), if_match=poisoned.etag
        )
        return msgspec.structs.replace(claimed, etag=etag)

    def _drop(self, poisoned: Poisoned) -> None:
        self._remove(poisoned)
        if poisoned.announcement is None or not self._forget(poisoned.queue, *poisoned.announcement):
            found = self._find(poisoned)
            if found is not None:
                self._forget(poisoned.queue, found.id, found.receipt or "")

    def _forget(self, queue: str, message_id: str, receipt: str) -> bool:
        try:
            self._queues.delete(queue + POISON_SUFFIX, message_id, receipt)
        except Lost:
            return False
        return True


def _key(poison_id: str) -> tuple[str, str]:
    queue, _, message = poison_id.partition("/")
    if not queue or not message:
        raise Invalid(f"a ticket set aside is named QUEUE/MESSAGE, not {poison_id!r}")
    return queue, message


def _announces(body: str) -> str | None:
    try:
        return msgspec.json.decode(body, type=_Announcement).poison
    except msgspec.MsgspecError:
        return None


def _as_new(body: str) -> str:
    """The body as it came, fields we do not know included, but for the tries forgiven."""
    fields = msgspec.json.decode(body)
    return msgspec.json.encode({**fields, "forgiven": 0}).decode() if fields.get("forgiven") else body


def _properties(poisoned: Poisoned) -> dict[str, Value]:
    """The body is kept as bytes: a string property holds less than a message may."""
    record = msgspec.structs.replace(poisoned, body="", etag="")
    json: dict[str, Value] = {"json": msgspec.json.encode(record).decode()}
    return json if poisoned.apart else {**json, "body": poisoned.body.encode()}


def _poisoned(entity: Entity) -> Poisoned:
    record = msgspec.json.decode(str(entity.properties["json"]), type=Poisoned)
    body = entity.properties.get("body", "")
    text = body.decode() if isinstance(body, bytes) else str(body)
    return msgspec.structs.replace(record, body=text, etag=entity.etag)
