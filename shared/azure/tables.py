"""Tables over Azure Table Storage."""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from azure.core import MatchConditions
from azure.data.tables import TableClient, TableEntity, TableServiceClient, UpdateMode

from shared.azure import keys, values
from shared.azure.faults import named
from shared.errors import Conflict, Invalid, NotFound
from shared.limits import check_keys, check_table_name, encoded
from shared.tables import MAX_BATCH, Change, Entity, EntityPage, Value

_MOST = 1000
_ETAG = re.compile(r'W/"datetime\'[^"]*\'"')
_NEVER = "W/\"datetime'1601-01-01T00%3A00%3A00.0000000Z'\""
"""In place of an ETag the service would call malformed: no entity has it."""


class AzureTables:
    def __init__(self, client: TableServiceClient) -> None:
        self._client = client

    def create_table(self, name: str) -> None:
        with self._table(name) as table:
            table.create_table()

    def ensure_table(self, name: str) -> None:
        try:
            self.create_table(name)
        except Conflict:
            return

    def list_tables(self) -> list[str]:
        with named("the list of tables"):
            return sorted(table.name for table in self._client.list_tables())

    def delete_table(self, name: str) -> None:
        check_table_name(name)
        # The SDK passes over one that is not there.
        if name not in self.list_tables():
            raise NotFound(f"there is no table {name!r}")
        with self._table(name) as table:
            table.delete_table()

    def insert(self, table: str, partition: str, row: str, properties: Mapping[str, Value]) -> str:
        entity = _entity(partition, row, properties)
        with self._table(table, partition, row) as client:
            return str(client.create_entity(entity)["etag"])

    def get(self, table: str, partition: str, row: str) -> Entity:
        check_keys(partition, row)
        with self._table(table, partition, row) as client:
            return _read(client.get_entity(keys.write(partition), keys.write(row)))

    def update(
        self, table: str, partition: str, row: str, properties: Mapping[str, Value], *, if_match: str
    ) -> str:
        entity = _entity(partition, row, properties)
        with self._table(table, partition, row) as client:
            return str(client.update_entity(entity, mode=UpdateMode.REPLACE, **_condition(if_match))["etag"])

    def upsert(self, table: str, partition: str, row: str, properties: Mapping[str, Value]) -> str:
        entity = _entity(partition, row, properties)
        with self._table(table, partition, row) as client:
            return str(client.upsert_entity(entity, mode=UpdateMode.REPLACE)["etag"])

    def delete(self, table: str, partition: str, row: str, *, if_match: str = "*") -> None:
        # As a batch of one: the SDK's own deletion passes over what is not there.
        self.batch(table, partition, [Change(kind="delete", row=row, if_match=if_match)])

    def batch(self, table: str, partition: str, changes: Sequence[Change]) -> list[str | None]:
        if not 1 <= len(changes) <= MAX_BATCH:
            raise Invalid(f"a batch has 1 to {MAX_BATCH} changes, not {len(changes)}")
        if len({change.row for change in changes}) < len(changes):
            raise Invalid("a batch changes each row at most once")
        operations = [_operation(partition, change) for change in changes]
        with self._table(table, partition) as client:
            done = client.submit_transaction(operations)
        return [
            None if change.kind == "delete" else str(one["etag"]) for change, one in zip(changes, done, strict=True)
        ]

    def query(
        self,
        table: str,
        partition: str | None,
        *,
        row_from: str | None = None,
        row_to: str | None = None,
        limit: int = _MOST,
        marker: str | None = None,
    ) -> EntityPage:
        if not 1 <= limit <= _MOST:
            raise Invalid(f"a page holds 1 to {_MOST} entities, not {limit}")
        condition, given = _filter(partition, row_from, row_to)
        token = None if marker is None else _read_marker(marker)
        with self._table(table, partition or "") as client:
            found = client.query_entities(condition, parameters=given, results_per_page=limit)
            pages: Any = found.by_page(continuation_token=token)
            entities = tuple(_read(entity) for entity in next(pages, ()))
            return EntityPage(entities=entities, marker=_write_marker(pages.continuation_token))

    @contextmanager
    def _table(self, name: str, *key: str) -> Iterator[TableClient]:
        check_table_name(name)
        with named(" ".join(("table", name, *key))):
            yield self._client.get_table_client(name)


def _entity(partition: str, row: str, properties: Mapping[str, Value]) -> dict[str, Any]:
    check_keys(partition, row)
    return {"PartitionKey": keys.write(partition), "RowKey": keys.write(row), **values.write(properties)}


def _operation(partition: str, change: Change) -> tuple[Any, ...]:
    entity = _entity(partition, change.row, change.properties or {})
    match change.kind:
        case "insert":
            return "create", entity
        case "upsert":
            return "upsert", entity, {"mode": UpdateMode.REPLACE}
        case "update":
            return "update", entity, {"mode": UpdateMode.REPLACE, **_condition(change.if_match)}
        case "delete":
            return "delete", entity, _condition(change.if_match)


def _condition(if_match: str) -> dict[str, Any]:
    if if_match == "*":
        return {}
    etag = if_match if _ETAG.fullmatch(if_match) else _NEVER
    return {"etag": etag, "match_condition": MatchConditions.IfNotModified}


def _read(entity: TableEntity) -> Entity:
    metadata: Any = entity.metadata
    return Entity(
        partition=keys.read(str(entity["PartitionKey"])),
        row=keys.read(str(entity["RowKey"])),
        properties=values.read(entity),
        etag=str(metadata["etag"]),
        timestamp=values.plain(metadata["timestamp"]),
    )


def _filter(partition: str | None, row_from: str | None, row_to: str | None) -> tuple[str, dict[str, Any]]:
    terms, given = [], {}
    for name, term, key in (
        ("partition", "PartitionKey eq @partition", partition),
        ("row_from", "RowKey ge @row_from", row_from),
        ("row_to", "RowKey lt @row_to", row_to),
    ):
        if key is not None:
            encoded("a key", key)
            terms.append(term)
            given[name] = keys.write(key)
    return " and ".join(terms), given


def _write_marker(token: Any) -> str | None:
    return None if not token else base64.urlsafe_b64encode(json.dumps(token).encode()).decode()


def _read_marker(marker: str) -> Any:
    try:
        return json.loads(base64.urlsafe_b64decode(marker))
    except (binascii.Error, ValueError):
        raise Invalid("this is not a marker of this listing") from None
