"""Queues as rows of one SQLite file; taking a message moves its time of next visibility and gives a new receipt."""

import json
import secrets
import sqlite3
import uuid
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from shared.clock import Clock
from shared.errors import Conflict, Invalid, Lost, NotFound
from shared.limits import check_body, check_count, check_span, check_store_name, metadata_text
from shared.local.database import Database
from shared.local.times import micros, moment, stamp
from shared.queues import DEFAULT_VISIBILITY, MAX_TTL, MAX_VISIBILITY, Depth, Message

_SCHEMA = """
CREATE TABLE queues (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, metadata TEXT NOT NULL);
CREATE TABLE messages (
    id TEXT PRIMARY KEY, queue INTEGER NOT NULL, receipt TEXT NOT NULL, dequeued INTEGER NOT NULL,
    inserted INTEGER NOT NULL, expires INTEGER NOT NULL, visible INTEGER NOT NULL, body TEXT NOT NULL);
CREATE INDEX messages_by_visibility ON messages (queue, visible, expires, inserted);
CREATE INDEX messages_by_expiry ON messages (queue, expires);
"""
_COLUMNS = "id, receipt, dequeued, inserted, expires, visible, body"
_NOW = timedelta(0)
_SECOND = timedelta(seconds=1)


class _Row(NamedTuple):
    id: str
    receipt: str
    dequeued: int
    inserted: int
    expires: int
    visible: int
    body: str

    def message(self, *, peeked: bool = False) -> Message:
        return Message(
            id=self.id,
            body=self.body,
            receipt=None if peeked else self.receipt,
            dequeue_count=self.dequeued,
            inserted=moment(self.inserted),
            expires=moment(self.expires),
            next_visible=None if peeked else moment(self.visible),
        )


class LocalQueues:
    """A power cut may take back a receive or a renewal, which only say who waits for whom; never a send or a delete."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._clock = clock
        self._db = Database(path, _SCHEMA)
        self._flowing: set[str] = set()

    # Queues

    def create(self, name: str, *, metadata: Mapping[str, str] | None = None) -> None:
        check_store_name("queue", name)
        text = metadata_text(metadata)
        if self._db.write(lambda db: _created(db, name, text)) != text:
            raise Conflict(f"the queue {name!r} exists with other metadata")

    def ensure(self, name: str) -> None:
        check_store_name("queue", name)
        if not self.exists(name):
            self._db.write(lambda db: _created(db, name, metadata_text(None)))

    def exists(self, name: str) -> bool:
        return self._db.read(lambda db: _find(db, name)) is not None

    def list_queues(self, *, prefix: str = "") -> list[str]:
        names = self._db.read(lambda db: db.execute("SELECT name FROM queues ORDER BY name").fetchall())
        return [name for (name,) in names if name.startswith(prefix)]

    def delete_queue(self, name: str) -> None:
        def work(db: sqlite3.Connection) -> None:
            queue = _need(db, name)
            db.execute("DELETE FROM messages WHERE queue = ?", (queue,))
            db.execute("DELETE FROM queues WHERE id = ?", (queue,))

        self._db.write(work, vital=True)

    def clear(self, name: str) -> None:
        statement = "DELETE FROM messages WHERE queue = ?"
        self._db.write(lambda db: db.execute(statement, (_need(db, name),)), vital=True)

    def get_metadata(self, name: str) -> Mapping[str, str]:
        query = "SELECT metadata FROM queues WHERE id = ?"
        text = self._db.read(lambda db: db.execute(query, (_need(db, name),)).fetchone()[0])
        return json.loads(text)  # type: ignore[no-any-return]

    def set_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        text = metadata_text(metadata)
        statement = "UPDATE queues SET metadata = ? WHERE id = ?"
        self._db.write(lambda db: db.execute(statement, (text, _need(db, name))))

    # Messages

    def send(
        self, queue: str, body: str, *, delay: timedelta = _NOW, ttl: timedelta = MAX_TTL
    ) -> Message:
        check_body(body)
        check_span("time to live", ttl, _SECOND, MAX_TTL)
        check_span("delay", delay, _NOW, MAX_VISIBILITY)
        if delay >= ttl:
            raise Invalid("the delay must be shorter than the time to live")
        now = self._now()
        row = _Row(str(uuid.uuid4()), _new_receipt(), 0, now, now + micros(ttl), now + micros(delay), body)
        statement = f"INSERT INTO messages (queue, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        self._db.write(lambda db: db.execute(statement, (_need(db, queue), *row)))
        return row.message()

    def receive(
        self, queue: str, *, count: int = 1, visibility: timedelta = DEFAULT_VISIBILITY
    ) -> list[Message]:
        check_count(count)
        check_span("visibility timeout", visibility, _SECOND, MAX_VISIBILITY)
        # Most polls find nothing; a plain read tells so without taking the writers' turn. Not where the last poll found
        # something: there most find more, and the read would be a tenth of what a message costs.
        if queue not in self._flowing and not self._db.read(lambda db: _is_anything_due(db, queue, self._now())):
            return []
        rows = self._db.write(lambda db: self._take(db, queue, count, visibility), durable=False, vital=True)
        (self._flowing.add if rows else self._flowing.discard)(queue)
        return [row.message() for row in rows]

    def update(
        self, queue: str, message_id: str, receipt: str, *, visibility: timedelta, body: str | None = None
    ) -> str:
        check_span("visibility timeout", visibility, _NOW, MAX_VISIBILITY)
        if body is not None:
            check_body(body)
        fresh = _new_receipt()
        statement = (
            "UPDATE messages SET receipt = ?, visible = ?, body = coalesce(?, body)"
            " WHERE id = ? AND queue = ? AND receipt = ? AND expires > ?"
        )

        def work(db: sqlite3.Connection) -> int:
            now = self._now()
            values = (fresh, now + micros(visibility), body, message_id, _need(db, queue), receipt, now)
            return db.execute(statement, values).rowcount

        if not self._db.write(work, durable=body is not None, vital=True):
            raise _lost(queue, message_id)
        return fresh

    def delete(self, queue: str, message_id: str, receipt: str) -> None:
        statement = "DELETE FROM messages WHERE id = ? AND queue = ? AND receipt = ? AND expires > ?"

        def work(db: sqlite3.Connection) -> int:
            return db.execute(statement, (message_id, _need(db, queue), receipt, self._now())).rowcount

        if not self._db.write(work, vital=True):
            raise _lost(queue, message_id)

    def peek(self, queue: str, *, count: int = 1) -> list[Message]:
        check_count(count)
        rows = self._db.read(lambda db: _visible(db, _need(db, queue), count, self._now()))
        return [row.message(peeked=True) for row in rows]

    def depth(self, queue: str) -> Depth:
        now = self._now()
        query = (
            "SELECT count(*), count(*) FILTER (WHERE visible <= :now), min(inserted) FILTER (WHERE visible <= :now)"
            " FROM messages WHERE queue = :queue AND expires > :now"
        )
        messages, visible, oldest = self._db.read(
            lambda db: db.execute(query, {"queue": _need(db, queue), "now": now}).fetchone()
        )
        age = None if oldest is None else moment(max(now, oldest)) - moment(oldest)
        return Depth(messages=messages, oldest=age, visible=visible)

    def _take(self, db: sqlite3.Connection, queue: str, count: int, visibility: timedelta) -> list[_Row]:
        now, number = self._now(), _need(db, queue)
        db.execute("DELETE FROM messages WHERE queue = ? AND expires <= ?", (number, now))
        return [_taken(db, row, now + micros(visibility)) for row in _visible(db, number, count, now)]

    def _now(self) -> int:
        return stamp(self._clock.now())


def _created(db: sqlite3.Connection, name: str, metadata: str) -> str:
    """Create it unless it exists; returns the metadata it has."""
    db.execute("INSERT OR IGNORE INTO queues (name, metadata) VALUES (?, ?)", (name, metadata))
    return str(db.execute("SELECT metadata FROM queues WHERE name = ?", (name,)).fetchone()[0])


def _find(db: sqlite3.Connection, name: str) -> int | None:
    found = db.execute("SELECT id FROM queues WHERE name = ?", (name,)).fetchone()
    return None if found is None else int(found[0])


def _need(db: sqlite3.Connection, name: str) -> int:
    found = _find(db, name)
    if found is None:
        raise NotFound(f"there is no queue {name!r}")
    return found


def _is_anything_due(db: sqlite3.Connection, queue: str, now: int) -> bool:
    """Whether there is anything to take, or expired to clear away."""
    query = "SELECT 1 FROM messages WHERE queue = ? AND visible <= ? LIMIT 1"
    return db.execute(query, (_need(db, queue), now)).fetchone() is not None


def _visible(db: sqlite3.Connection, queue: int, count: int, now: int) -> list[_Row]:
    query = (
        f"SELECT {_COLUMNS} FROM messages WHERE queue = ? AND visible <= ? AND expires > ? ORDER BY visible LIMIT ?"
    )
    return [_Row._make(row) for row in db.execute(query, (queue, now, now, count)).fetchall()]


def _taken(db: sqlite3.Connection, row: _Row, visible: int) -> _Row:
    taken = row._replace(receipt=_new_receipt(), dequeued=row.dequeued + 1, visible=visible)
    statement = "UPDATE messages SET receipt = ?, dequeued = ?, visible = ? WHERE id = ?"
    db.execute(statement, (taken.receipt, taken.dequeued, taken.visible, taken.id))
    return taken


def _new_receipt() -> str:
    return secrets.token_urlsafe(18)


def _lost(queue: str, message_id: str) -> Lost:
    return Lost(f"message {message_id} of {queue} is gone, or another holds it")
