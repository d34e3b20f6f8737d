"""What has been copied already, kept at the target: a run cut short goes on, and a later one copies what changed."""

import hashlib
from collections.abc import Iterator

import msgspec

from shared.blobs import Blob
from shared.errors import NotFound
from shared.tables import Tables

JOURNAL = "migration"


class Copied(msgspec.Struct, frozen=True, kw_only=True):
    """The version of a blob that was read, and the version it became."""

    name: str
    source: str
    target: str
    size: int


class Journal:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        tables.ensure_table(JOURNAL)

    def note(self, source: Blob, target: Blob) -> None:
        copied = Copied(name=source.name, source=source.etag, target=target.etag, size=source.size)
        self._tables.upsert(
            JOURNAL, source.container, _row(source.name), {"json": msgspec.json.encode(copied).decode()}
        )

    def of(self, container: str) -> dict[str, Copied]:
        return {copied.name: copied for copied in self._all(container)}

    def forget(self, container: str, name: str) -> None:
        try:
            self._tables.delete(JOURNAL, container, _row(name))
        except NotFound:
            return

    def _all(self, container: str) -> Iterator[Copied]:
        marker = None
        while True:
            page = self._tables.query(JOURNAL, container, marker=marker)
            for entity in page.entities:
                yield msgspec.json.decode(str(entity.properties["json"]), type=Copied)
            marker = page.marker
            if marker is None:
                return


def _row(name: str) -> str:
    """A blob's name may be longer than a key."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
