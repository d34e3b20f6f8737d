"""Blobs as lists of immutable files; SQLite holds the lists, so a commit moves rows and never copies a byte."""

import base64
import hashlib
import hmac
import json
import re
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from shared.blobs import (
    MAX_BLOCK_ID_BYTES,
    MAX_BLOCKS,
    MAX_METADATA_BYTES,
    UNCOMMITTED_LIFE,
    Access,
    Blob,
    BlobPage,
    Block,
    BlockList,
    Container,
    Right,
)
from shared.clock import Clock
from shared.errors import Conflict, Forbidden, Invalid, Lost, NotFound
from shared.local.database import Database
from shared.local.files import Files, Written

_SCHEMA = """
CREATE TABLE IF NOT EXISTS containers (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, access TEXT NOT NULL, etag TEXT NOT NULL, modified INTEGER NOT NULL,
    metadata TEXT NOT NULL, deleted INTEGER);
CREATE UNIQUE INDEX IF NOT EXISTS containers_by_name ON containers (name) WHERE deleted IS NULL;
CREATE TABLE IF NOT EXISTS blobs (
    container INTEGER NOT NULL, name TEXT NOT NULL, etag TEXT NOT NULL, modified INTEGER NOT NULL,
    size INTEGER NOT NULL, type TEXT NOT NULL, cache TEXT, md5 BLOB, metadata TEXT NOT NULL, version TEXT NOT NULL,
    PRIMARY KEY (container, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pieces (
    version TEXT NOT NULL, seq INTEGER NOT NULL, start INTEGER NOT NULL, size INTEGER NOT NULL,
    file TEXT NOT NULL, block TEXT, PRIMARY KEY (version, seq)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pieces_by_file ON pieces (file);
CREATE TABLE IF NOT EXISTS staged (
    container INTEGER NOT NULL, name TEXT NOT NULL, block TEXT NOT NULL, file TEXT NOT NULL, size INTEGER NOT NULL,
    at INTEGER NOT NULL, PRIMARY KEY (container, name, block)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS staged_by_file ON staged (file);
CREATE TABLE IF NOT EXISTS garbage (file TEXT PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leases (
    container INTEGER NOT NULL, name TEXT NOT NULL, lease TEXT NOT NULL, seconds INTEGER NOT NULL,
    until INTEGER NOT NULL, PRIMARY KEY (container, name)) WITHOUT ROWID;
"""
_CONTAINER = re.compile("(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*")
_CONTROL = re.compile("[\x00-\x1f\x7f\ufffe\uffff]")
_BEING_DELETED = 30
_READERS_GRACE = 600
"""Seconds a replaced file is kept for readers that opened the blob before."""
_STRAY_GRACE = 86400
"""Seconds a file nobody refers to is kept: its writer may be about to say what it is."""
_FOREVER = 2**62
_COLUMNS = "name, etag, modified, size, type, cache, md5, metadata, version"


class LocalBlobs:
    """`secret` signs URLs; without one `signed_url` is refused. Times are whole seconds, as on Azure."""

    def __init__(self, root: Path, clock: Clock, *, secret: str) -> None:
        self._clock = clock
        self._secret = secret
        self._db = Database(root / "blobs.db", _SCHEMA)
        self._files = Files(root / "files")

    # Containers

    def create_container(
        self, name: str, *, access: Access = "private", metadata: Mapping[str, str] | None = None
    ) -> None:
        _check_container(name)
        _check_access(access)
        text = _checked_metadata(metadata)
        now = self._now()

        def work(db: sqlite3.Connection) -> None:
            if _find_container(db, name) is not None:
                raise Conflict(f"the container {name!r} exists already")
            gone = db.execute("SELECT max(deleted) FROM containers WHERE name = ?", (name,)).fetchone()[0]
            if gone is not None and now < gone + _BEING_DELETED:
                raise Conflict(f"the container {name!r} is being deleted; try again in {_BEING_DELETED} s")
            db.execute(
                "INSERT INTO containers (name, access, etag, modified, metadata) VALUES (?, ?, ?, ?, ?)",
                (name, access, _new_etag(), now, text),
            )

        self._db.write(work)

    def ensure_container(self, name: str, *, access: Access = "private") -> None:
        _check_container(name)
        if self._db.read(lambda db: _find_container(db, name)) is not None:
            return
        try:
            self.create_container(name, access=access)
        except Conflict:
            if self._db.read(lambda db: _find_container(db, name)) is None:
                raise

    def get_container(self, name: str) -> Container:
        query = "SELECT name, access, etag, modified, metadata FROM containers WHERE id = ?"
        return _container(self._db.read(lambda db: db.execute(query, (_need_container(db, name),)).fetchone()))

    def set_container_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        self._change_container(name, "metadata", _checked_metadata(metadata))

    def set_container_access(self, name: str, access: Access) -> None:
        _check_access(access)
        self._change_container(name, "access", access)

    def _change_container(self, name: str, column: str, value: str) -> None:
        statement = f"UPDATE containers SET {column} = ?, etag = ?, modified = ? WHERE id = ?"
        values = (value, _new_etag(), self._now())
        self._db.write(lambda db: db.execute(statement, (*values, _need_container(db, name))))

    def list_containers(self, *, prefix: str = "") -> list[Container]:
        query = "SELECT name, access, etag, modified, metadata FROM containers WHERE deleted IS NULL ORDER BY name"
        rows = self._db.read(lambda db: db.execute(query).fetchall())
        return [_container(row) for row in rows if row[0].startswith(prefix)]

    def delete_container(self, name: str) -> None:
        statement = "UPDATE containers SET deleted = ? WHERE id = ?"
        now = self._now()
        self._db.write(lambda db: db.execute(statement, (now, _need_container(db, name))))

    # Writing

    def put(
        self,
        container: str,
        name: str,
        data: bytes | BinaryIO,
        *,
        content_type: str = "application/octet-stream",
        cache_control: str | None = None,
        content_md5: bytes | None = None,
        metadata: Mapping[str, str] | None = None,
        if_match: str | None = None,
        if_none_match: str | None = None,
        if_unmodified_since: datetime | None = None,
        lease_id: str | None = None,
    ) -> Blob:
        _check_name(name)
        text = _checked_metadata(metadata)
        self._db.read(lambda db: _need_container(db, container))
        written = self._files.write(data, md5=content_md5, want_md5=True)

        def work(db: sqlite3.Connection) -> Any:
            where = (_need_container(db, container), name)
            old = self._guard(db, where, if_match, if_none_match, lease_id, if_unmodified_since)
            self._drop_staged(db, where)
            pieces = [(written.file, written.size, None)] if written.size else []
            return self._replace(db, where, old, pieces, (content_type, cache_control, written.md5, text))

        return _blob(container, self._keep(written, work))

    def stage_block(
        self, container: str, name: str, block_id: str, data: bytes | BinaryIO, *, content_md5: bytes | None = None
    ) -> Block:
        _check_name(name)
        length = _block_id_length(block_id)
        self._db.read(lambda db: _need_container(db, container))
        written = self._files.write(data, md5=content_md5)

        def work(db: sqlite3.Connection) -> None:
            where = (_need_container(db, container), name)
            other = db.execute("SELECT block FROM staged WHERE container = ? AND name = ? LIMIT 1", where).fetchone()
            if other and _block_id_length(other[0]) != length:
                raise Invalid("all block ids of one blob must have the same length")
            key = (*where, block_id)
            same = "container = ? AND name = ? AND block = ?"
            old = db.execute(f"SELECT file FROM staged WHERE {same}", key).fetchone()
            if old:
                self._discard(db, [old[0]])
            db.execute(
                "INSERT OR REPLACE INTO staged (container, name, block, file, size, at) VALUES (?, ?, ?, ?, ?, ?)",
                (*key, written.file, written.size, self._now()),
            )

        self._keep(written, work)
        return Block(id=block_id, size=written.size)

    def commit_block_list(
        self,
        container: str,
        name: str,
        block_ids: Sequence[str],
        *,
        content_type: str = "application/octet-stream",
        cache_control: str | None = None,
        metadata: Mapping[str, str] | None = None,
        if_match: str | None = None,
        if_none_match: str | None = None,
        lease_id: str | None = None,
    ) -> Blob:
        _check_name(name)
        text = _checked_metadata(metadata)
        if len(block_ids) > MAX_BLOCKS:
            raise Invalid(f"a blob has at most {MAX_BLOCKS:,} blocks, not {len(block_ids):,}")

        def work(db: sqlite3.Connection) -> Any:
            where = (_need_container(db, container), name)
            old = self._guard(db, where, if_match, if_none_match, lease_id)
            known = _blocks(db, where, old)
            unknown = [block for block in block_ids if block not in known]
            if unknown:
                raise Invalid(f"{len(unknown)} blocks of the list are not here, among them {unknown[0]!r}")
            pieces = [(*known[block], block) for block in block_ids]
            db.execute("DELETE FROM staged WHERE container = ? AND name = ?", where)
            row = self._replace(db, where, old, pieces, (content_type, cache_control, None, text))
            self._discard(db, {file for file, _ in known.values()} - {file for file, _, _ in pieces})
            return row

        return _blob(container, self._db.write(work))

    def set_metadata(
        self,
        container: str,
        name: str,
        metadata: Mapping[str, str],
        *,
        if_match: str | None = None,
        lease_id: str | None = None,
    ) -> Blob:
        text = _checked_metadata(metadata)

        def work(db: sqlite3.Connection) -> Any:
            where = (_need_container(db, container), name)
            if self._guard(db, where, if_match, None, lease_id) is None:
                raise _no_blob(container, name)
            statement = "UPDATE blobs SET metadata = ?, etag = ?, modified = ? WHERE container = ? AND name = ?"
            db.execute(statement, (text, _new_etag(), self._now(), *where))
            return _row(db, where)

        return _blob(container, self._db.write(work))

    def delete(
        self, container: str, name: str, *, if_match: str | None = None, lease_id: str | None = None
    ) -> None:
        def work(db: sqlite3.Connection) -> None:
            where = (_need_container(db, container), name)
            old = _row(db, where)
            if old is None:
                raise _no_blob(container, name)
            self._guard(db, where, if_match, None, lease_id)
            self._drop_staged(db, where)
            self._drop_version(db, old[-1])
            db.execute("DELETE FROM blobs WHERE container = ? AND name = ?", where)
            db.execute("DELETE FROM leases WHERE container = ? AND name = ?", where)

        self._db.write(work)

    def _keep(self, written: Written, work: Any) -> Any:
        """Run the transaction that makes a new file known; without it the file must not stay."""
        try:
            return self._db.write(work)
        except BaseException:
            self._files.remove(written.file)
            raise

    def _guard(
        self,
        db: sqlite3.Connection,
        where: tuple[int, str],
        if_match: str | None,
        if_none_match: str | None,
        lease_id: str | None,
        if_unmodified_since: datetime | None = None,
    ) -> Any:
        """The blob's row, or None; Conflict if a condition or somebody's lease stands against a write."""
        row = _row(db, where)
        etag, modified = (row[1], row[2]) if row else (None, None)
        if if_match is not None and (row is None or if_match not in ("*", etag)):
            raise Conflict("the blob is not at the version given")
        if if_none_match is not None and row is not None and if_none_match in ("*", etag):
            raise Conflict("the blob exists already")
        if if_unmodified_since is not None and modified is not None and modified > if_unmodified_since.timestamp():
            raise Conflict("the blob was changed since then")
        lease = self._lease(db, where)
        if lease is not None and lease[0] != lease_id:
            raise Conflict("another holds a lease on the blob")
        if lease is None and lease_id is not None:
            raise Conflict("the lease given does not hold the blob")
        return row

    def _replace(
        self,
        db: sqlite3.Connection,
        where: tuple[int, str],
        old: Any,
        pieces: Sequence[tuple[str, int, str | None]],
        about: tuple[str, str | None, bytes | None, str],
    ) -> Any:
        version, start, rows = secrets.token_hex(12), 0, []
        for seq, (file, size, block) in enumerate(pieces):
            rows.append((version, seq, start, size, file, block))
            start += size
        db.executemany("INSERT INTO pieces (version, seq, start, size, file, block) VALUES (?, ?, ?, ?, ?, ?)", rows)
        content_type, cache, md5, metadata = about
        db.execute(
            f"INSERT OR REPLACE INTO blobs (container, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*where, _new_etag(), self._now(), start, content_type, cache, md5, metadata, version),
        )
        if old is not None:
            self._drop_version(db, old[-1])
        return _row(db, where)

    def _drop_version(self, db: sqlite3.Connection, version: str) -> None:
        # A commit may keep blocks of the version before, so only what no other version uses is garbage.
        query = (
            "SELECT file FROM pieces o WHERE version = ? AND NOT EXISTS"
            " (SELECT 1 FROM pieces n WHERE n.file = o.file AND n.version <> o.version)"
        )
        files = [row[0] for row in db.execute(query, (version,))]
        db.execute("DELETE FROM pieces WHERE version = ?", (version,))
        self._discard(db, files)

    def _drop_staged(self, db: sqlite3.Connection, where: tuple[int, str]) -> None:
        files = db.execute("SELECT file FROM staged WHERE container = ? AND name = ?", where).fetchall()
        db.execute("DELETE FROM staged WHERE container = ? AND name = ?", where)
        self._discard(db, [file for (file,) in files])

    def _discard(self, db: sqlite3.Connection, files: Any) -> None:
        now = self._now()
        db.executemany("INSERT OR IGNORE INTO garbage (file, since) VALUES (?, ?)", [(file, now) for file in files])

    # Reading

    def get_block_list(self, container: str, name: str) -> BlockList:
        def work(db: sqlite3.Connection) -> tuple[Any, list[Any], list[Any]]:
            where = (_need_container(db, container), name)
            row = _row(db, where)
            query = "SELECT block, size FROM pieces WHERE version = ? AND block IS NOT NULL ORDER BY seq"
            committed = db.execute(query, (row[-1],)).fetchall() if row else []
            staged = db.execute("SELECT block, size FROM staged WHERE container = ? AND name = ?", where).fetchall()
            return row, committed, staged

        row, committed, staged = self._db.read(work)
        if row is None and not staged:
            raise _no_blob(container, name)
        return BlockList(
            committed=tuple(Block(id=block, size=size) for block, size in committed),
            staged=tuple(Block(id=block, size=size) for block, size in staged),
        )

    def stat(self, container: str, name: str) -> Blob:
        return _blob(container, self._found(container, name))

    def get(
        self,
        container: str,
        name: str,
        *,
        if_match: str | None = None,
        if_none_match: str | None = None,
        if_modified_since: datetime | None = None,
    ) -> bytes:
        row = self._found(container, name)
        if if_none_match is not None and if_none_match in ("*", row[1]):
            raise Conflict("the blob has not changed")
        if if_modified_since is not None and row[2] <= if_modified_since.timestamp():
            raise Conflict("the blob has not changed since then")
        return b"".join(self.read(container, name, if_match=if_match))

    def read(
        self, container: str, name: str, *, start: int = 0, end: int | None = None, if_match: str | None = None
    ) -> Iterator[bytes]:
        row, pieces = self._db.read(lambda db: _pieces(db, container, name, start, end))
        if row is None:
            raise _no_blob(container, name)
        size = row[3]
        if if_match is not None and if_match not in ("*", row[1]):
            raise Conflict("the blob is not at the version given")
        if start < 0 or (start >= size and not start == size == 0):
            raise Invalid(f"the blob has {size} bytes; it cannot be read from {start}")
        return self._stream(pieces, start, size if end is None else min(end, size))

    def _stream(self, pieces: Sequence[Any], start: int, end: int) -> Iterator[bytes]:
        for offset, size, file in pieces:
            low, high = max(start, offset), min(end, offset + size)
            if low < high:
                yield from self._files.read(file, low - offset, high - offset)

    def _found(self, container: str, name: str) -> Any:
        row = self._db.read(lambda db: _row(db, (_need_container(db, container), name)))
        if row is None:
            raise _no_blob(container, name)
        return row

    # Listing

    def list_blobs(
        self,
        container: str,
        *,
        prefix: str = "",
        delimiter: str | None = None,
        limit: int = 1000,
        marker: str | None = None,
    ) -> BlobPage:
        if not 1 <= limit <= 5000:
            raise Invalid(f"a page holds 1 to 5,000 entries, not {limit}")
        cursor = max(prefix, _read_marker(marker)) if marker else prefix

        def work(db: sqlite3.Connection) -> tuple[list[Any], list[str], str | None]:
            return _list(db, _need_container(db, container), prefix, delimiter, limit, cursor)

        rows, prefixes, following = self._db.read(work)
        return BlobPage(
            blobs=tuple(_blob(container, row) for row in rows),
            prefixes=tuple(prefixes),
            marker=None if following is None else base64.urlsafe_b64encode(following.encode()).decode(),
        )

    def list_uncommitted(self, container: str, *, prefix: str = "") -> Iterator[tuple[str, datetime]]:
        query = (
            "SELECT name, max(at) FROM staged s WHERE container = ? AND NOT EXISTS"
            " (SELECT 1 FROM blobs b WHERE b.container = s.container AND b.name = s.name) GROUP BY name ORDER BY name"
        )
        rows = self._db.read(lambda db: db.execute(query, (_need_container(db, container),)).fetchall())
        return iter([(name, _moment(at)) for name, at in rows if name.startswith(prefix)])

    def discard_uncommitted(self, container: str, name: str) -> None:
        self._db.write(lambda db: self._drop_staged(db, (_need_container(db, container), name)))

    # Leases

    def acquire_lease(self, container: str, name: str, *, seconds: int, lease_id: str | None = None) -> str:
        if seconds != -1 and not 15 <= seconds <= 60:
            raise Invalid(f"a lease lasts 15 to 60 s, or -1 for no end, not {seconds}")
        lease = lease_id or secrets.token_hex(16)

        def work(db: sqlite3.Connection) -> None:
            where = self._need_blob(db, container, name)
            held = self._lease(db, where)
            if held is not None and held[0] != lease:
                raise Conflict(f"another holds a lease on {name!r}")
            self._set_lease(db, where, lease, seconds)

        self._db.write(work)
        return lease

    def renew_lease(self, container: str, name: str, lease_id: str) -> None:
        def work(db: sqlite3.Connection) -> None:
            where = self._need_blob(db, container, name)
            held = db.execute("SELECT lease, seconds FROM leases WHERE container = ? AND name = ?", where).fetchone()
            if held is None or held[0] != lease_id:
                raise Lost(f"the lease on {name!r} is not ours any more")
            self._set_lease(db, where, lease_id, held[1])

        self._db.write(work, vital=True)

    def release_lease(self, container: str, name: str, lease_id: str) -> None:
        def work(db: sqlite3.Connection) -> None:
            where = self._need_blob(db, container, name)
            statement = "DELETE FROM leases WHERE container = ? AND name = ? AND lease = ?"
            if not db.execute(statement, (*where, lease_id)).rowcount:
                raise Lost(f"the lease on {name!r} is not ours any more")

        self._db.write(work, vital=True)

    def break_lease(self, container: str, name: str) -> None:
        statement = "DELETE FROM leases WHERE container = ? AND name = ?"
        self._db.write(lambda db: db.execute(statement, self._need_blob(db, container, name)))

    def _need_blob(self, db: sqlite3.Connection, container: str, name: str) -> tuple[int, str]:
        where = (_need_container(db, container), name)
        if _row(db, where) is None:
            raise _no_blob(container, name)
        return where

    def _lease(self, db: sqlite3.Connection, where: tuple[int, str]) -> Any:
        query = "SELECT lease FROM leases WHERE container = ? AND name = ? AND until > ?"
        return db.execute(query, (*where, self._now())).fetchone()

    def _set_lease(self, db: sqlite3.Connection, where: tuple[int, str], lease: str, seconds: int) -> None:
        until = _FOREVER if seconds == -1 else self._now() + seconds
        db.execute(
            "INSERT OR REPLACE INTO leases (container, name, lease, seconds, until) VALUES (?, ?, ?, ?, ?)",
            (*where, lease, seconds, until),
        )

    # Links

    def signed_url(self, container: str, name: str, *, right: Right, expires_in: timedelta) -> str:
        _check_name(name)
        expires = self._now() + int(expires_in.total_seconds())
        signature = self._sign(container, name, right, expires)
        return f"/blobs/{container}/{quote(name)}?right={right}&expires={expires}&signature={signature}"

    def check_signature(self, container: str, name: str, right: str, expires: int, signature: str) -> None:
        """Raises Forbidden unless this is a signature of ours that has not expired."""
        if not hmac.compare_digest(self._sign(container, name, right, expires).encode(), signature.encode()):
            raise Forbidden("this link is not valid")
        if self._now() >= expires:
            raise Forbidden("this link has expired")

    def _sign(self, container: str, name: str, right: str, expires: int) -> str:
        if not self._secret:
            raise Invalid("links cannot be signed without a secret; set MATINEE_SECRET_KEY")
        text = json.dumps([container, name, right, expires])
        return hmac.new(self._secret.encode(), text.encode(), hashlib.sha256).hexdigest()

    # Garbage

    def collect_garbage(self) -> int:
        now = self._now()
        self._db.write(lambda db: self._forget_dead(db, now))
        due = "SELECT file FROM garbage WHERE since <= ?"
        files = [row[0] for row in self._db.read(lambda db: db.execute(due, (now - _READERS_GRACE,)).fetchall())]
        freed = sum(self._files.remove(file) for file in files)
        if files:
            statement = "DELETE FROM garbage WHERE file = ?"
            self._db.write(lambda db: db.executemany(statement, [(file,) for file in files]))
        return freed + sum(self._files.remove(file) for file in self._strays(now))

    def _forget_dead(self, db: sqlite3.Connection, now: int) -> None:
        stale = (
            "SELECT container, name FROM staged GROUP BY container, name HAVING max(at) <= ?"
            " UNION SELECT container, name FROM staged WHERE container IN"
            " (SELECT id FROM containers WHERE deleted IS NOT NULL)"
        )
        for where in db.execute(stale, (now - int(UNCOMMITTED_LIFE.total_seconds()),)).fetchall():
            self._drop_staged(db, where)
        gone = (
            "SELECT container, name, version FROM blobs WHERE container IN"
            " (SELECT id FROM containers WHERE deleted IS NOT NULL)"
        )
        for container, name, version in db.execute(gone).fetchall():
            self._drop_version(db, version)
            db.execute("DELETE FROM blobs WHERE container = ? AND name = ?", (container, name))
        db.execute("DELETE FROM containers WHERE deleted <= ?", (now - _BEING_DELETED,))

    def _strays(self, now: int) -> Iterator[str]:
        known = " UNION ALL ".join(f"SELECT 1 FROM {table} WHERE file = ?" for table in ("pieces", "staged", "garbage"))
        for file, changed in self._files.all():
            if changed < now - _STRAY_GRACE:
                found = self._db.read(lambda db, file=file: db.execute(known, (file, file, file)).fetchone())  # type: ignore[misc]
                if found is None:
                    yield file

    def _now(self) -> int:
        return int(self._clock.now().timestamp())


def _blocks(db: sqlite3.Connection, where: tuple[int, str], old: Any) -> dict[str, tuple[str, int]]:
    """Block id -> (file, size): committed ones, overlaid by staged ones."""
    known: dict[str, tuple[str, int]] = {}
    if old is not None:
        query = "SELECT block, file, size FROM pieces WHERE version = ? AND block IS NOT NULL"
        known.update({block: (file, size) for block, file, size in db.execute(query, (old[-1],))})
    query = "SELECT block, file, size FROM staged WHERE container = ? AND name = ?"
    known.update({block: (file, size) for block, file, size in db.execute(query, where)})
    return known


def _pieces(
    db: sqlite3.Connection, container: str, name: str, start: int, end: int | None
) -> tuple[Any, list[Any]]:
    db.execute("BEGIN")
    try:
        row = _row(db, (_need_container(db, container), name))
        if row is None:
            return None, []
        query = "SELECT start, size, file FROM pieces WHERE version = ? AND start + size > ? AND start < ? ORDER BY seq"
        return row, db.execute(query, (row[-1], start, _FOREVER if end is None else end)).fetchall()
    finally:
        db.execute("COMMIT")


def _list(
    db: sqlite3.Connection, container: int, prefix: str, delimiter: str | None, limit: int, cursor: str
) -> tuple[list[Any], list[str], str | None]:
    rows: list[Any] = []
    prefixes: list[str] = []
    query = f"SELECT {_COLUMNS} FROM blobs WHERE container = ? AND name >= ? ORDER BY name LIMIT ?"
    while True:
        asked = limit - len(rows) - len(prefixes) + 1
        batch = db.execute(query, (container, cursor, asked)).fetchall()
        jumped = False
        for row in batch:
            name = row[0]
            if not name.startswith(prefix):
                return rows, prefixes, None
            if len(rows) + len(prefixes) == limit:
                return rows, prefixes, name
            cut = name.find(delimiter, len(prefix)) if delimiter else -1
            if cut >= 0 and delimiter:
                folder = name[: cut + len(delimiter)]
                prefixes.append(folder)
                after = _successor(folder)
                if after is None:
                    return rows, prefixes, None
                cursor, jumped = after, True
                break
            rows.append(row)
            cursor = name + "\x00"
        if not jumped and len(batch) < asked:
            return rows, prefixes, None


def _successor(prefix: str) -> str | None:
    """The smallest text above every text that starts with `prefix`, in code point order."""
    while prefix:
        code = ord(prefix[-1]) + 1
        if code == 0xD800:
            code = 0xE000
        if code <= 0x10FFFF:
            return prefix[:-1] + chr(code)
        prefix = prefix[:-1]
    return None


def _find_container(db: sqlite3.Connection, name: str) -> int | None:
    row = db.execute("SELECT id FROM containers WHERE name = ? AND deleted IS NULL", (name,)).fetchone()
    return None if row is None else int(row[0])


def _need_container(db: sqlite3.Connection, name: str) -> int:
    found = _find_container(db, name)
    if found is None:
        raise NotFound(f"there is no container {name!r}")
    return found


def _row(db: sqlite3.Connection, where: tuple[int, str]) -> Any:
    return db.execute(f"SELECT {_COLUMNS} FROM blobs WHERE container = ? AND name = ?", where).fetchone()


def _no_blob(container: str, name: str) -> NotFound:
    return NotFound(f"there is no blob {name!r} in {container!r}")


def _blob(container: str, row: Any) -> Blob:
    name, etag, modified, size, content_type, cache, md5, metadata, _ = row
    return Blob(
        container=container,
        name=name,
        size=size,
        etag=etag,
        last_modified=_moment(modified),
        content_type=content_type,
        cache_control=cache,
        content_md5=md5,
        metadata=json.loads(metadata),
    )


def _container(row: Any) -> Container:
    name, access, etag, modified, metadata = row
    return Container(
        name=name, access=access, etag=etag, last_modified=_moment(modified), metadata=json.loads(metadata)
    )


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _new_etag() -> str:
    return '"' + secrets.token_hex(8) + '"'


def _check_container(name: str) -> None:
    if not _CONTAINER.fullmatch(name):
        raise Invalid(f"a container name is 3 to 63 of a-z, 0-9 and single hyphens, not {name!r}")


def _check_access(access: str) -> None:
    if access not in ("private", "public"):
        raise Invalid(f"a container is private or public, not {access!r}")


def _check_name(name: str) -> None:
    if not 1 <= len(name) <= 1024:
        raise Invalid(f"a blob name has 1 to 1,024 characters, not {len(name)}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise Invalid("a blob name is valid Unicode") from None
    if _CONTROL.search(name) or any(step in (".", "..") for step in name.split("/")):
        raise Invalid(f"a blob name has no control characters and no . or .. step: {name!r}")


def _block_id_length(block_id: str) -> int:
    try:
        length = len(base64.b64decode(block_id, validate=True))
    except ValueError:
        raise Invalid(f"a block id is base64, not {block_id!r}") from None
    if not 1 <= length <= MAX_BLOCK_ID_BYTES:
        raise Invalid(f"a block id stands for 1 to {MAX_BLOCK_ID_BYTES} bytes, not {length}")
    return length


def _checked_metadata(metadata: Mapping[str, str] | None) -> str:
    metadata = metadata or {}
    size = sum(len(name.encode()) + len(value.encode()) for name, value in metadata.items())
    if size > MAX_METADATA_BYTES:
        raise Invalid(f"metadata is at most {MAX_METADATA_BYTES} bytes, not {size}")
    return json.dumps(dict(metadata))


def _read_marker(marker: str) -> str:
    try:
        return base64.urlsafe_b64decode(marker).decode()
    except ValueError:
        raise Invalid("this is not a marker of this listing") from None
