"""Blobs as lists of immutable files; SQLite holds the lists, so a commit moves rows and never copies a byte."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO, TypeVar

from shared import limits
from shared.blobs import Access, Blob, BlobPage, Block, BlockList, Container, Right
from shared.clock import Clock
from shared.errors import Invalid
from shared.local import containers, garbage, leases, listing, staging, versions
from shared.local.conditions import Conditions
from shared.local.database import Database
from shared.local.files import Files, Written
from shared.local.links import Links
from shared.local.times import SECOND, moment, stamp
from shared.local.versions import About, Piece, Place, Stored, Stretch

_SCHEMA = containers.SCHEMA + versions.SCHEMA + staging.SCHEMA + leases.SCHEMA + garbage.SCHEMA
_THE_END = 2**62

Result = TypeVar("Result")
AtPlace = Callable[[sqlite3.Connection, Place], Result]


class LocalBlobs:
    """`secret` signs links. `last_modified` is cut to the second, as a web server gives it."""

    def __init__(self, root: Path, clock: Clock, *, secret: str) -> None:
        self._clock = clock
        self._links = Links(secret)
        self._db = Database(root / "blobs.db", _SCHEMA)
        self._files = Files(root / "files", self._knows)
        self._collector = garbage.Collector(self._db, self._files)

    # Containers

    def create_container(
        self, name: str, *, access: Access = "private", metadata: Mapping[str, str] | None = None
    ) -> None:
        limits.check_store_name("container", name)
        limits.check_access(access)
        text, now = limits.metadata_text(metadata), self._now()
        self._db.write(lambda db: containers.create(db, name, access, text, now))

    def ensure_container(self, name: str, *, access: Access = "private") -> None:
        limits.check_store_name("container", name)
        limits.check_access(access)
        if self._db.read(lambda db: containers.find(db, name)) is None:
            now = self._now()
            self._db.write(lambda db: containers.ensure(db, name, access, now))

    def get_container(self, name: str) -> Container:
        return self._db.read(lambda db: containers.show(db, name))

    def set_container_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        text, now = limits.metadata_text(metadata), self._now()
        self._db.write(lambda db: containers.set_metadata(db, name, text, now))

    def set_container_access(self, name: str, access: Access) -> None:
        limits.check_access(access)
        now = self._now()
        self._db.write(lambda db: containers.set_access(db, name, access, now))

    def list_containers(self, *, prefix: str = "") -> list[Container]:
        return self._db.read(lambda db: containers.show_all(db, prefix))

    def delete_container(self, name: str) -> None:
        now = self._now()
        self._db.write(lambda db: containers.delete(db, name, now), vital=True)

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
        limits.check_blob_name(name)
        about = About(content_type, cache_control, limits.metadata_text(metadata))
        conditions = Conditions(if_match, if_none_match, if_unmodified_since=if_unmodified_since)
        # Also before the bytes are taken in, so that what cannot succeed costs nothing.
        self._read(container, name, lambda db, place: self._may_write(db, place, conditions, lease_id))
        with self._files.writing(data, md5=content_md5, want_md5=True) as written:
            content = [Piece(written.file, written.size, None)] if written.size else []

            def work(db: sqlite3.Connection, place: Place) -> Stored:
                self._may_write(db, place, conditions, lease_id)
                return self._replace(db, place, content, written.md5, about)

            return self._write(container, name, work).blob(container)

    def stage_block(
        self, container: str, name: str, block_id: str, data: bytes | BinaryIO, *, content_md5: bytes | None = None,
        lease_id: str | None = None,
    ) -> Block:
        limits.check_blob_name(name)
        limits.block_id_length(block_id)
        self._read(container, name, lambda db, place: self._may_stage(db, place, block_id, lease_id))
        with self._files.writing(data, md5=content_md5) as written:
            if not written.size:
                raise Invalid("a block has at least one byte")
            self._write(container, name, lambda db, place: self._stage(db, place, block_id, written, lease_id))
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
        limits.check_blob_name(name)
        limits.check_block_count(len(block_ids))
        about = About(content_type, cache_control, limits.metadata_text(metadata))
        conditions = Conditions(if_match, if_none_match)

        def work(db: sqlite3.Connection, place: Place) -> Stored:
            stored = self._may_write(db, place, conditions, lease_id)
            content = _chosen(block_ids, versions.pieces(db, stored), staging.blocks(db, place))
            return self._replace(db, place, content, None, about)

        return self._write(container, name, work).blob(container)

    def set_metadata(
        self,
        container: str,
        name: str,
        metadata: Mapping[str, str],
        *,
        if_match: str | None = None,
        lease_id: str | None = None,
    ) -> Blob:
        text = limits.metadata_text(metadata)

        def work(db: sqlite3.Connection, place: Place) -> Stored:
            versions.need(db, place)
            self._may_write(db, place, Conditions(if_match), lease_id)
            leases.written(db, place, self._now())
            return versions.set_metadata(db, place, text, self._now())

        return self._write(container, name, work).blob(container)

    def delete(
        self, container: str, name: str, *, if_match: str | None = None, lease_id: str | None = None
    ) -> None:
        def work(db: sqlite3.Connection, place: Place) -> None:
            versions.need(db, place)
            self._may_write(db, place, Conditions(if_match), lease_id)
            doomed = _files(db, place)
            versions.delete(db, place)
            staging.drop(db, place)
            leases.end(db, place)
            versions.discard(db, doomed, self._now())

        self._write(container, name, work)

    # Reading

    def get_block_list(self, container: str, name: str) -> BlockList:
        def work(db: sqlite3.Connection, place: Place) -> BlockList:
            stored, staged = versions.find(db, place), staging.blocks(db, place)
            if stored is None and not staged:
                versions.need(db, place)
            return BlockList(committed=_listed(versions.pieces(db, stored)), staged=_listed(staged))

        return self._read(container, name, work)

    def stat(self, container: str, name: str) -> Blob:
        return self._read(container, name, versions.need).blob(container)

    def get(
        self,
        container: str,
        name: str,
        *,
        if_match: str | None = None,
        if_none_match: str | None = None,
        if_modified_since: datetime | None = None,
    ) -> bytes:
        conditions = Conditions(if_match, if_none_match, if_modified_since)
        return b"".join(self._open(container, name, conditions, 0, None))

    def read(
        self, container: str, name: str, *, start: int = 0, end: int | None = None, if_match: str | None = None
    ) -> Iterator[bytes]:
        return self._open(container, name, Conditions(if_match), start, end)

    def list_blobs(
        self,
        container: str,
        *,
        prefix: str = "",
        delimiter: str | None = None,
        limit: int = 1000,
        marker: str | None = None,
    ) -> BlobPage:
        listing.check_limit(limit)
        cursor = listing.read_marker(marker)

        def work(db: sqlite3.Connection) -> listing.Page:
            return listing.page(db, listing.Asked(containers.need(db, container), prefix, delimiter), limit, cursor)

        page = self._db.read(work)
        return BlobPage(
            blobs=tuple(stored.blob(container) for stored in page.blobs),
            prefixes=tuple(page.prefixes),
            marker=listing.write_marker(page.following),
        )

    def list_uncommitted(self, container: str, *, prefix: str = "") -> Iterator[tuple[str, datetime]]:
        found = self._db.read(lambda db: staging.uncommitted(db, containers.need(db, container)))
        return ((one.place.name, moment(one.last)) for one in found if one.place.name.startswith(prefix))

    def discard_uncommitted(self, container: str, name: str) -> None:
        def work(db: sqlite3.Connection, place: Place) -> None:
            versions.discard(db, [block.file for block in staging.blocks(db, place)], self._now())
            staging.drop(db, place)

        self._write(container, name, work)

    # Leases

    def acquire_lease(self, container: str, name: str, *, seconds: int, lease_id: str | None = None) -> str:
        leases.check_seconds(seconds)
        lease = lease_id or leases.new_id()

        def work(db: sqlite3.Connection, place: Place) -> None:
            versions.need(db, place)
            leases.acquire(db, place, lease, seconds, self._now())

        self._write(container, name, work)
        return lease

    def renew_lease(self, container: str, name: str, lease_id: str) -> None:
        def work(db: sqlite3.Connection, place: Place) -> None:
            versions.need(db, place)
            leases.renew(db, place, lease_id, self._now())

        self._write(container, name, work)

    def release_lease(self, container: str, name: str, lease_id: str) -> None:
        def work(db: sqlite3.Connection, place: Place) -> None:
            versions.need(db, place)
            leases.release(db, place, lease_id)

        self._write(container, name, work)

    def break_lease(self, container: str, name: str) -> None:
        def work(db: sqlite3.Connection, place: Place) -> None:
            versions.need(db, place)
            leases.end(db, place)

        self._write(container, name, work)

    # Links and garbage

    def signed_url(self, container: str, name: str, *, right: Right, expires_in: timedelta) -> str:
        limits.check_blob_name(name)
        expires = -(-(self._now() + expires_in // timedelta(microseconds=1)) // SECOND)
        return self._links.path(container, name, right, expires)

    def check_signature(self, container: str, name: str, right: str, expires: int, signature: str) -> None:
        """Raises Forbidden unless the link is one of ours and still runs. `expires` in seconds since 1970."""
        self._links.check(container, name, right, expires, signature, self._now() / SECOND)

    def block_address(self, container: str, name: str, *, expires_in: timedelta) -> None:  # noqa: ARG002 - the contract's
        """Blocks go through the web role."""
        return

    def browser_origin(self) -> None:
        return

    def collect_garbage(self) -> int:
        return self._collector.collect(self._now())

    # Inside

    def _read(self, container: str, name: str, work: AtPlace[Result]) -> Result:
        return self._db.read(lambda db: work(db, Place(containers.need(db, container), name)))

    def _write(self, container: str, name: str, work: AtPlace[Result]) -> Result:
        # Vital, all of it: the bytes, which are what fills a disk, are down before their row is written.
        return self._db.write(lambda db: work(db, Place(containers.need(db, container), name)), vital=True)

    def _may_write(
        self, db: sqlite3.Connection, place: Place, conditions: Conditions, lease_id: str | None
    ) -> Stored | None:
        stored = versions.find(db, place)
        conditions.check(stored)
        leases.check(db, place, lease_id, self._now())
        return stored

    def _replace(
        self, db: sqlite3.Connection, place: Place, content: Sequence[Piece], md5: bytes | None, about: About
    ) -> Stored:
        now = self._now()
        doomed = _files(db, place) - {piece.file for piece in content}
        stored = versions.replace(db, place, content, md5, about, now)
        staging.drop(db, place)
        leases.written(db, place, now)
        versions.discard(db, doomed, now)
        return stored

    def _may_stage(self, db: sqlite3.Connection, place: Place, block_id: str, lease_id: str | None) -> None:
        staging.check_id_length(db, place, block_id)
        leases.check(db, place, lease_id, self._now())

    def _stage(
        self, db: sqlite3.Connection, place: Place, block_id: str, written: Written, lease_id: str | None
    ) -> None:
        self._may_stage(db, place, block_id, lease_id)
        now = self._now()
        replaced = staging.stage(db, place, Piece(written.file, written.size, block_id), now)
        if replaced is not None:
            versions.discard(db, [replaced], now)

    def _open(
        self, container: str, name: str, conditions: Conditions, start: int, end: int | None
    ) -> Iterator[bytes]:
        def work(db: sqlite3.Connection, place: Place) -> list[Stretch]:
            stored = versions.need(db, place)
            conditions.check(stored)
            if start < 0 or (start >= stored.size and (start or stored.size)):
                raise Invalid(f"the blob has {stored.size} bytes; it cannot be read from {start}")
            return versions.stretches(db, stored, start, _THE_END if end is None else end)

        return self._stream(self._read(container, name, work), start, _THE_END if end is None else end)

    def _stream(self, stretches: Sequence[Stretch], start: int, end: int) -> Iterator[bytes]:
        for stretch in stretches:
            low, high = max(start, stretch.start), min(end, stretch.start + stretch.size)
            yield from self._files.read(stretch.file, low - stretch.start, high - stretch.start)

    def _knows(self, file: str) -> bool:
        return self._db.read(lambda db: garbage.is_known(db, file))

    def _now(self) -> int:
        return stamp(self._clock.now())


def _chosen(block_ids: Sequence[str], committed: Sequence[Piece], staged: Sequence[Piece]) -> list[Piece]:
    """The pieces a list names, staged ones first. Raises Invalid for an id that is neither."""
    known = {piece.block: piece for piece in (*committed, *staged) if piece.block is not None}
    missing = [block_id for block_id in block_ids if block_id not in known]
    if missing:
        raise Invalid(f"{len(missing)} blocks of the list are not here, among them {missing[0]!r}")
    return [known[block_id] for block_id in block_ids]


def _files(db: sqlite3.Connection, place: Place) -> set[str]:
    """Of its content and its staged blocks."""
    held = versions.pieces(db, versions.find(db, place)) + staging.blocks(db, place)
    return {piece.file for piece in held}


def _listed(pieces: Sequence[Piece]) -> tuple[Block, ...]:
    return tuple(Block(id=piece.block, size=piece.size) for piece in pieces if piece.block is not None)
