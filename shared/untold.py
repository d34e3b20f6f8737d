"""Facts that wait to be told, in the partition of their video: written in one batch with what they tell of."""

from collections.abc import Iterator
from contextlib import suppress

from shared.errors import NotFound
from shared.tables import Change, Tables, Value, every_entity
from shared.topics.cloudevents import CloudEvent, decode, encode

VIDEOS = "videos"
_ROW = "outbox-"


def to_tell(event: CloudEvent) -> Change:
    """For the batch that makes it a fact."""
    properties: dict[str, Value] = {"json": encode(event)}
    return Change(kind="upsert", row=f"{_ROW}{event.id}", properties=properties)


class Untold:
    """Over a table store, whose named failures its methods raise."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def facts(self, video_id: str) -> Iterator[CloudEvent]:
        rows = every_entity(self._tables, VIDEOS, video_id, row_from=_ROW, row_to=_ROW + "\U0010ffff")
        return (decode(str(row.properties["json"])) for row in rows)

    def cross_off(self, event: CloudEvent) -> None:
        """It is told. Said again it does no harm."""
        with suppress(NotFound):
            self._tables.delete(VIDEOS, event.subject, f"{_ROW}{event.id}")

    def has_any(self, video_id: str) -> bool:
        return next(self.facts(video_id), None) is not None
