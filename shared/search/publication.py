"""The published index: immutable files, and one pointer that names those of the newest version."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from shared.blobs import Blob, Blobs, every_page
from shared.clock import Clock
from shared.errors import Busy, Conflict, MatineeError, NotFound
from shared.search import SEARCH
from shared.search.schema import FORM

POINTER = "pointer.json"
FILES = "files/"
GRACE = timedelta(minutes=10)
"""How long a file stays after the newest version ceased to name it, for replicas that have just read the pointer."""


class Damaged(MatineeError):
    """What is published cannot be used: a file is missing or not what was written, or all is of another form."""


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """`files` maps a file's name in the index folder to its blob. `number` grows by one with each version.

    `dropped` are blobs of earlier versions and when they ceased to be named.
    """

    number: int = 0
    form: int = FORM
    documents: int = 0
    files: dict[str, str] = {}
    dropped: dict[str, datetime] = {}


class Publication:
    """Methods raise the store's named failures."""

    def __init__(self, blobs: Blobs, clock: Clock) -> None:
        self._blobs = blobs
        self._clock = clock

    def etag(self) -> str | None:
        """The pointer's, whatever it says; None before the first."""
        try:
            return self._blobs.stat(SEARCH, POINTER).etag
        except NotFound:
            return None

    def read(self, etag: str) -> Version:
        """What the pointer said at that ETag. Raises Conflict if it has moved on, Damaged if it makes no sense."""
        text = self._blobs.get(SEARCH, POINTER, if_match=etag)
        try:
            version = msgspec.json.decode(text, type=Version)
        except msgspec.MsgspecError as error:
            raise Damaged(f"the pointer of the search index cannot be read: {error}") from None
        if version.form != FORM:
            raise Damaged(f"the search index is of form {version.form}, not {FORM}")
        return version

    def publish(
        self, folder: Path, files: dict[str, str], *, documents: int, before: Version | None, etag: str | None
    ) -> Version:
        """Files first, then the pointer, which moves only if it still is where it was: Busy otherwise."""
        known = set(before.files.values()) if before else set()
        for name, blob in files.items():
            if blob not in known:
                with (folder / name).open("rb") as data:
                    self._blobs.put(SEARCH, blob, data)
        version = Version(
            number=before.number + 1 if before else 1,
            documents=documents,
            files=files,
            dropped=self._dropped(before, files) if before else {},
        )
        self._point_to(version, etag)
        return version

    def remove_old(self) -> None:
        """Files nobody can be reading any more, and those of writers that died before they could publish.

        Listed before the pointer is read, and removed only as they were listed: a writer that was frozen in here, and
        overtaken, takes nothing away that was published since.
        """
        listed = list(self._list())
        etag = self.etag()
        if etag is None:
            return
        newest = self.read(etag)
        kept = {*newest.files.values(), *newest.dropped}
        for blob in listed:
            if blob.name not in kept and self._clock.now() - blob.last_modified > GRACE:
                self._remove(blob)

    def _dropped(self, before: Version, files: dict[str, str]) -> dict[str, datetime]:
        now = self._clock.now()
        dropped = dict.fromkeys(before.files.values(), now) | before.dropped
        named = set(files.values())
        return {blob: since for blob, since in dropped.items() if blob not in named and now - since <= GRACE}

    def _point_to(self, version: Version, etag: str | None) -> None:
        text = msgspec.json.encode(version)
        none_match = None if etag else "*"
        try:
            self._blobs.put(
                SEARCH, POINTER, text, content_type="application/json", if_match=etag, if_none_match=none_match
            )
        except Conflict:
            raise Busy("another writer has published the index meanwhile") from None

    def _list(self) -> Iterator[Blob]:
        return (blob for page in every_page(self._blobs, SEARCH, prefix=FILES) for blob in page.blobs)

    def _remove(self, blob: Blob) -> None:
        try:
            self._blobs.delete(SEARCH, blob.name, if_match=blob.etag)
        except (Conflict, NotFound):  # written again, or removed by another
            return
