"""Tables from one store to another: both walked side by side in key order, only differences written."""

from collections.abc import Iterator

from infra.migration.journal import JOURNAL
from shared.tables import MAX_BATCH, Change, Entity, Tables

_MOST_BYTES = 2 * 1024**2
"""Of one batch; the service takes 4 MiB with everything around it."""


class TableCopy:
    def __init__(self, source: Tables, target: Tables) -> None:
        self._source = source
        self._target = target
        self.written = 0
        self.removed = 0

    def run(self) -> None:
        for table in self._source.list_tables():
            if table != JOURNAL:
                self._target.ensure_table(table)
                self._copy(table)

    def differences(self) -> int:
        """How many entities are not the same on both sides."""
        tables = [table for table in self._source.list_tables() if table != JOURNAL]
        return sum(1 for table in tables for _ in self._differing(table))

    def _copy(self, table: str) -> None:
        batch: list[Change] = []
        partition, size = "", 0
        for key, change in self._differing(table):
            bytes_of_it = _size(change)
            if batch and (key != partition or len(batch) == MAX_BATCH or size + bytes_of_it > _MOST_BYTES):
                self._send(table, partition, batch)
                batch, size = [], 0
            partition, size = key, size + bytes_of_it
            batch.append(change)
        if batch:
            self._send(table, partition, batch)

    def _send(self, table: str, partition: str, batch: list[Change]) -> None:
        self._target.batch(table, partition, batch)
        self.removed += sum(1 for change in batch if change.kind == "delete")
        self.written += sum(1 for change in batch if change.kind != "delete")

    def _differing(self, table: str) -> Iterator[tuple[str, Change]]:
        """The partition, and the change that makes the target's entity like the source's."""
        here, there = _entities(self._source, table), _entities(self._target, table)
        ours, theirs = next(here, None), next(there, None)
        while ours or theirs:
            if theirs is None or (ours and _key(ours) < _key(theirs)):
                assert ours
                yield ours.partition, Change(kind="upsert", row=ours.row, properties=ours.properties)
                ours = next(here, None)
            elif ours is None or _key(theirs) < _key(ours):
                yield theirs.partition, Change(kind="delete", row=theirs.row)
                theirs = next(there, None)
            else:
                if ours.properties != theirs.properties:
                    yield ours.partition, Change(kind="upsert", row=ours.row, properties=ours.properties)
                ours, theirs = next(here, None), next(there, None)


def _entities(store: Tables, table: str) -> Iterator[Entity]:
    marker = None
    while True:
        page = store.query(table, None, marker=marker)
        yield from page.entities
        marker = page.marker
        if marker is None:
            return


def _key(entity: Entity) -> tuple[str, str]:
    return entity.partition, entity.row


def _size(change: Change) -> int:
    return sum(len(name) + len(str(value)) * 2 for name, value in (change.properties or {}).items()) + 500
