"""Queues as rows of one SQLite file; taking a message moves its time of next visibility and gives a new receipt."""

import json
import re
import secrets
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from shared.clock import Clock
from shared.errors import Conflict, Invalid, Lost, NotFound
from shared.local.database import Database
from shared.queues import (
    DEFAULT_VISIBILITY,
    MAX_BATCH,
    MAX_BODY_BYTES,
    MAX_METADATA_BYTES,
    MAX_TTL,
    MAX_VISIBILITY,
    Depth,
    Message,
)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS queues (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, metadata TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS messages (
    id TEXT PRIMARY KEY, queue INTEGER NOT NULL REFERENCES queues (id), body TEXT NOT NULL, receipt TEXT,
    dequeued INTEGER NOT NULL, inserted INTEGER NOT NULL, expires INTEGER NOT NULL, visible INTEGER NOT NULL
    ) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS messages_by_visibility ON messages (queue, visible);
"""
_NAME = re.compile("(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*")
_COLUMNS = "id, body, receipt, dequeued, inserted, expires, visible"
_ZERO = timedelta(0)


class LocalQueues:
    """Times are kept as microseconds since 1970, by the clock given."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._clock = clock
        self._db = Database(path, _SCHEMA)

    def create(self, name: str, *, metadata: Mapping[str, str] | None = None) -> None:
        _check_name(name)
        wanted = _checked_metadata(metadata or {})

        def work(db: sqlite3.Connection) -> None:
            added = db.execute("INSERT OR IGNORE INTO queues (name, metadata) VALUES (?, ?)", (name, wanted))
            held = db.execute("SELECT metadata FROM queues WHERE name = ?", (name,)).fetchone()[0]
            if not added.rowcount and held != wanted:
                raise Conflict(f"the queue {name!r} exists with other metadata")

        self._db.write(work)

    def ensure(self, name: str) -> None:
        _check_name(name)
        if not self.exists(name):
            statement = "INSERT OR IGNORE INTO queues (name, metadata) VALUES (?, '{}')"
            self._db.write(lambda db: db.execute(statement, (name,)))

    def exists(self, name: str) -> bool:
        statement = "SELECT 1 FROM queues WHERE name = ?"
        return self._db.read(lambda db: db.execute(statement, (name,)).fetchone()) is not None

    def list_queues(self, *, prefix: str = "") -> list[str]:
        names = self._db.read(lambda db: db.execute("SELECT name FROM queues ORDER BY name").fetchall())
        return [name for (name,) in names if name.startswith(prefix)]

    def delete_queue(self, name: str) -> None:
        def work(db: sqlite3.Connection) -> None:
            queue = _queue(db, name)
            db.execute("DELETE FROM messages WHERE queue = ?", (queue,))
            db.execute("DELETE FROM queues WHERE id = ?", (queue,))

        self._db.write(work)

    def clear(self, name: str) -> None:
        self._db.write(lambda db: db.execute("DELETE FROM messages WHERE queue = ?", (_queue(db, name),)))

    def get_metadata(self, name: str) -> Mapping[str, str]:
        def work(db: sqlite3.Connection) -> str:
            return str(db.execute("SELECT metadata FROM queues WHERE id = ?", (_queue(db, name),)).fetchone()[0])

        metadata: dict[str, str] = json.loads(self._db.read(work))
        return metadata

    def set_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        text = _checked_metadata(metadata)
        statement = "UPDATE queues SET metadata = ? WHERE id = ?"
        self._db.write(lambda db: db.execute(statement, (text, _queue(db, name))))

    def send(
        self, queue: str, body: str, *, delay: timedelta = _ZERO, ttl: timedelta = MAX_TTL
    ) -> Message:
        _check_body(body)
        _check_span("the time to live", ttl, timedelta(seconds=1), MAX_TTL)
        _check_span("the delay", delay, _ZERO, MAX_VISIBILITY)
        if delay >= ttl:
            raise Invalid("the delay must be shorter than the time to live")
        now = self._now()
        row = (_new_id(), body, secrets.token_hex(12), 0, now, now + _micro(ttl), now + _micro(delay))

        def work(db: sqlite3.Connection) -> None:
            values = (_queue(db, queue), *row)
            db.execute(f"INSERT INTO messages (queue, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)

        self._db.write(work)
        return _message(row)

    def receive(
        self, queue: str, *, count: int = 1, visibility: timedelta = DEFAULT_VISIBILITY
    ) -> list[Message]:
        _check_count(count)
        _check_span("the visibility timeout", visibility, timedelta(seconds=1), MAX_VISIBILITY)
        # Most polls find nothing; a plain read tells so without taking the writer's turn.
        if not self._db.read(lambda db: self._visible(db, queue, 1, expired=True)):
            return []
        return self._db.write(lambda db: self._take(db, queue, count, _micro(visibility)))

    def update(
        self, queue: str, message_id: str, receipt: str, *, visibility: timedelta, body: str | None = None
    ) -> str:
        _check_span("the visibility timeout", visibility, _ZERO, MAX_VISIBILITY)
        if body is not None:
            _check_body(body)
        fresh = secrets.token_hex(12)
        now = self._now()
        statement = (
            "UPDATE messages SET receipt = ?, visible = ?, body = coalesce(?, body)"
            " WHERE id = ? AND queue = ? AND receipt = ? AND expires > ?"
        )

        def work(db: sqlite3.Connection) -> None:
            values = (fresh, now + _micro(visibility), body, message_id, _queue(db, queue), receipt, now)
            if not db.execute(statement, values).rowcount:
                raise Lost(f"message {message_id} of {queue} is gone or held by another")

        self._db.write(work, vital=True)
        return fresh

    def delete(self, queue: str, message_id: str, receipt: str) -> None:
        statement = "DELETE FROM messages WHERE id = ? AND queue = ? AND receipt = ?"

        def work(db: sqlite3.Connection) -> None:
            if not db.execute(statement, (message_id, _queue(db, queue), receipt)).rowcount:
                raise Lost(f"message {message_id} of {queue} is gone or held by another")

        self._db.write(work, vital=True)

    def peek(self, queue: str, *, count: int = 1) -> list[Message]:
        _check_count(count)
        rows = self._db.read(lambda db: self._visible(db, queue, count))
        return [_message((row[0], row[1], None, *row[3:])) for row in rows]

    def depth(self, queue: str) -> Depth:
        now = self._now()

        def work(db: sqlite3.Connection) -> Any:
            number = _queue(db, queue)
            count = "SELECT count(*) FROM messages WHERE queue = ? AND expires > ?"
            oldest = "SELECT min(inserted) FROM messages WHERE queue = ? AND expires > ? AND visible <= ?"
            return (
                db.execute(count, (number, now)).fetchone()[0],
                db.execute(oldest, (number, now, now)).fetchone()[0],
            )

        messages, inserted = self._db.read(work)
        return Depth(
            messages=messages, oldest=None if inserted is None else timedelta(microseconds=max(0, now - inserted))
        )

    def _visible(self, db: sqlite3.Connection, queue: str, count: int, *, expired: bool = False) -> list[Any]:
        now = self._now()
        statement = (
            f"SELECT {_COLUMNS} FROM messages WHERE queue = ? AND visible <= ? AND expires > ?"
            " ORDER BY visible LIMIT ?"
        )
        return db.execute(statement, (_queue(db, queue), now, 0 if expired else now, count)).fetchall()

    def _take(self, db: sqlite3.Connection, queue: str, count: int, span: int) -> list[Message]:
        now = self._now()
        db.execute("DELETE FROM messages WHERE queue = ? AND visible <= ? AND expires <= ?", (_queue(db, queue), now, now))
        taken = []
        for row in self._visible(db, queue, count):
            changed = (row[0], row[1], secrets.token_hex(12), row[3] + 1, row[4], row[5], now + span)
            db.execute(
                "UPDATE messages SET receipt = ?, dequeued = ?, visible = ? WHERE id = ?",
                (changed[2], changed[3], changed[6], changed[0]),
            )
            taken.append(_message(changed))
        return taken

    def _now(self) -> int:
        return _micro(self._clock.now() - _EPOCH)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _micro(span: timedelta) -> int:
    return span // timedelta(microseconds=1)


def _moment(micro: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micro)


def _new_id() -> str:
    return secrets.token_hex(16)


def _message(row: Any) -> Message:
    message_id, body, receipt, dequeued, inserted, expires, visible = row
    return Message(
        id=message_id,
        body=body,
        receipt=receipt,
        dequeue_count=dequeued,
        inserted=_moment(inserted),
        expires=_moment(expires),
        next_visible=_moment(visible) if receipt is not None else None,
    )


def _queue(db: sqlite3.Connection, name: str) -> int:
    found = db.execute("SELECT id FROM queues WHERE name = ?", (name,)).fetchone()
    if found is None:
        raise NotFound(f"there is no queue {name!r}")
    return int(found[0])


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise Invalid(f"a queue name is 3 to 63 of a-z, 0-9 and single hyphens, not {name!r}")


def _check_count(count: int) -> None:
    if not 1 <= count <= MAX_BATCH:
        raise Invalid(f"1 to {MAX_BATCH} messages can be asked for at once, not {count}")


def _check_span(what: str, span: timedelta, low: timedelta, high: timedelta) -> None:
    if not low <= span <= high:
        raise Invalid(f"{what} is {low.total_seconds():g} s to {high.total_seconds():g} s, not {span.total_seconds():g} s")


def _check_body(body: str) -> None:
    try:
        size = len(body.encode())
    except UnicodeEncodeError:
        raise Invalid("a message body is Unicode text") from None
    if size > MAX_BODY_BYTES:
        raise Invalid(f"a message body is at most {MAX_BODY_BYTES} bytes of UTF-8, not {size}")


def _checked_metadata(metadata: Mapping[str, str]) -> str:
    size = sum(len(name.encode()) + len(value.encode()) for name, value in metadata.items())
    if size > MAX_METADATA_BYTES:
        raise Invalid(f"metadata is at most {MAX_METADATA_BYTES} bytes, not {size}")
    return json.dumps(dict(metadata), sort_keys=True)
