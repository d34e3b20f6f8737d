"""The audit log: every fact as it was told, newest first, over all videos and for each."""

from collections.abc import Iterator
from datetime import UTC, datetime

from shared.tables import Tables, every_entity
from shared.topics.cloudevents import CloudEvent, decode, encode

AUDIT = "audit"
_ALL = "all"
_END = datetime(9999, 1, 1, tzinfo=UTC)


class AuditLog:
    """Over a table store, whose named failures its methods raise."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def ensure(self) -> None:
        self._tables.ensure_table(AUDIT)

    def record(self, event: CloudEvent) -> None:
        """Recorded again it is the same line."""
        for partition in (event.subject, _ALL):
            self._tables.upsert(AUDIT, partition, _row(event), {"json": encode(event)})

    def read(self, video: str | None = None) -> Iterator[CloudEvent]:
        """Newest first."""
        entities = every_entity(self._tables, AUDIT, video or _ALL)
        return (decode(str(entity.properties["json"])) for entity in entities)


def _row(event: CloudEvent) -> str:
    left = int((_END - event.time).total_seconds() * 1_000_000)
    return f"{left:018d}-{event.id}"
