"""The published index: immutable files, and one pointer that names those of the newest version."""

import hashlib
import shutil
from datetime import timedelta
from pathlib import Path

import msgspec

from shared.blobs import Blobs
from shared.clock import Clock
from shared.errors import Busy, Conflict, NotFound
from shared.search import SEARCH

POINTER = "pointer.json"
LOCK = "writer.lock"
_FILES = "files/"
_KEEP = timedelta(minutes=10)
"""Unreferenced files stay this long for replicas that have just read the pointer before."""


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """`files` maps a file's name in the index folder to its blob. `number` grows by one with each version."""

    number: int = 0
    documents: int = 0
    files: dict[str, str] = {}

    @property
    def name(self) -> str:
        """Equal for equal content only."""
        listed = "\n".join(f"{name} {blob}" for name, blob in sorted(self.files.items()))
        return f"{self.number:012d}-{hashlib.sha256(listed.encode()).hexdigest()[:16]}"


class Publication:
    def __init__(self, blobs: Blobs, clock: Clock) -> None:
        self._blobs = blobs
        self._clock = clock

    def ensure(self) -> None:
        self._blobs.ensure_container(SEARCH)
        try:
            self._blobs.put(SEARCH, LOCK, b"", if_none_match="*")
        except Conflict:  # it is there, or held by the writer
            return

    def newest(self) -> tuple[Version, str | None]:
        """The version and the pointer's ETag; an empty version and None before the first."""
        try:
            etag = self._blobs.stat(SEARCH, POINTER).etag
            return msgspec.json.decode(self._blobs.get(SEARCH, POINTER, if_match=etag), type=Version), etag
        except NotFound:
            return Version(), None
        except Conflict:
            return self.newest()

    def newest_etag(self) -> str | None:
        try:
            return self._blobs.stat(SEARCH, POINTER).etag
        except NotFound:
            return None

    def fetch(self, version: Version, folder: Path, *, known: Path | None = None) -> None:
        """Fill a new folder with a version's files, taking those of an older folder by link. Raises NotFound."""
        folder.mkdir(parents=True)
        for name, blob in version.files.items():
            marked = folder / name
            if known is not None and _same(known / name, blob):
                marked.hardlink_to(known / name)
                continue
            with marked.open("wb") as out:
                for piece in self._blobs.read(SEARCH, blob):
                    out.write(piece)

    def publish(self, folder: Path, before: Version, etag: str | None, documents: int) -> tuple[Version, str]:
        """Files first, then the pointer, which moves only if it still is where it was. Raises Busy otherwise."""
        files = {path.name: _blob_name(path) for path in sorted(folder.iterdir()) if _belongs(path)}
        for name, blob in files.items():
            if blob not in before.files.values():
                with (folder / name).open("rb") as data:
                    self._blobs.put(SEARCH, blob, data)
        version = Version(number=before.number + 1, documents=documents, files=files)
        text = msgspec.json.encode(version)
        try:
            pointer = self._blobs.put(
                SEARCH, POINTER, text, content_type="application/json",
                if_match=etag, if_none_match=None if etag else "*",
            )
        except Conflict:
            raise Busy("another writer has published the index meanwhile") from None
        return version, pointer.etag

    def remove_old(self, version: Version) -> None:
        """Files no version names any more, once nobody can be reading them."""
        kept = set(version.files.values())
        for blob in self._blobs.list_blobs(SEARCH, prefix=_FILES, limit=5000).blobs:
            if blob.name not in kept and self._clock.now() - blob.last_modified > _KEEP:
                self._blobs.delete(SEARCH, blob.name)


def empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _belongs(path: Path) -> bool:
    return path.is_file() and not path.name.endswith(("LOCK", ".tmp")) and path.name != "version"


def _blob_name(path: Path) -> str:
    with path.open("rb") as file:
        return f"{_FILES}{hashlib.file_digest(file, 'sha256').hexdigest()[:32]}-{path.stat().st_size}"


def _same(path: Path, blob: str) -> bool:
    """By size only for speed, since a segment's name is never used twice for other content of that size."""
    return path.is_file() and not path.name.endswith(".toc") and blob.endswith(f"-{path.stat().st_size}")
