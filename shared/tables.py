"""Tables: entities by (partition, row), each with an ETag; the only transaction is a batch inside one partition."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

Value = str | int | float | bool | bytes | datetime
"""A property's value. int is signed 64-bit; datetime is UTC; str up to 32 Ki UTF-16 units; bytes up to 64 KiB."""

MAX_ENTITY_BYTES = 1024 * 1024
MAX_BYTES = 64 * 1024
"""In a property of bytes."""
MAX_PROPERTIES = 252
MAX_KEY_BYTES = 1024
MAX_BATCH = 100


@dataclass(frozen=True, kw_only=True)
class Entity:
    partition: str
    row: str
    properties: Mapping[str, Value]
    etag: str
    timestamp: datetime


@dataclass(frozen=True, kw_only=True)
class EntityPage:
    entities: tuple[Entity, ...]
    marker: str | None


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change of a batch. `if_match` (update, delete): an ETag, or "*" for any version that exists."""

    kind: Literal["insert", "update", "upsert", "delete"]
    row: str
    properties: Mapping[str, Value] | None = None
    if_match: str = "*"


class Tables(Protocol):
    """The table store.

    Table names: 3-63 letters and digits, a letter first. Keys: up to 1,024 bytes of any Unicode (the backend escapes
    what its service forbids), ordered by code point. A change replaces the whole entity. Durable before
    acknowledged, and visible to the next read. NotFound: no such table or entity. Conflict: it exists (insert), or
    its ETag is another (update, delete). Invalid: a limit or type is broken. Busy and Full as everywhere.
    """

    def create_table(self, name: str) -> None:
        """Raises Conflict if it exists."""
        ...

    def ensure_table(self, name: str) -> None: ...

    def list_tables(self) -> list[str]: ...

    def delete_table(self, name: str) -> None: ...

    def insert(self, table: str, partition: str, row: str, properties: Mapping[str, Value]) -> str:
        """Returns the ETag; Conflict if present: of many callers exactly one wins."""
        ...

    def get(self, table: str, partition: str, row: str) -> Entity: ...

    def update(
        self, table: str, partition: str, row: str, properties: Mapping[str, Value], *, if_match: str
    ) -> str:
        """Replace one that exists at this ETag ("*": any); returns the new ETag."""
        ...

    def upsert(self, table: str, partition: str, row: str, properties: Mapping[str, Value]) -> str: ...

    def delete(self, table: str, partition: str, row: str, *, if_match: str = "*") -> None: ...

    def batch(self, table: str, partition: str, changes: Sequence[Change]) -> list[str | None]:
        """All or nothing, 1-100 changes, each row at most once; the ETags in order (None for a delete)."""
        ...

    def query(
        self,
        table: str,
        partition: str | None,
        *,
        row_from: str | None = None,
        row_to: str | None = None,
        limit: int = 1000,
        marker: str | None = None,
    ) -> EntityPage:
        """Entities of a partition with row_from <= row < row_to, in row order, at most `limit` (1-1,000) a page.

        `partition` None walks the whole table in key order: for rebuilding and copying, never for a page.
        """
        ...


def every_entity(
    tables: Tables,
    table: str,
    partition: str | None,
    *,
    row_from: str | None = None,
    row_to: str | None = None,
    limit: int = 1000,
) -> Iterator[Entity]:
    """Page after page of a query to its end, each of at most `limit`."""
    marker = None
    while True:
        page = tables.query(table, partition, row_from=row_from, row_to=row_to, limit=limit, marker=marker)
        yield from page.entities
        marker = page.marker
        if marker is None:
            return
