"""The index's files on this machine: each fetched once, known by its content, and lent to folders by hard link."""

import hashlib
import os
import secrets
from pathlib import Path

from shared.blobs import Blobs
from shared.clock import Clock
from shared.errors import NotFound
from shared.search import SEARCH
from shared.search.publication import FILES, GRACE, Damaged, Version

_TRIES = 3


class LocalFiles:
    """Safe to use by many processes at once: a file appears by rename, whole and on the disk.

    A blob's name tells its content's SHA-256 and size; each file is checked when this process first lends it.
    """

    def __init__(self, blobs: Blobs, clock: Clock, folder: Path) -> None:
        self._blobs = blobs
        self._clock = clock
        self._folder = folder
        self._sound: set[str] = set()

    def lend(self, version: Version, folder: Path) -> None:
        """Fill a new folder with a version's files. Raises Damaged if what is published is not what was written."""
        folder.mkdir(parents=True)
        self._folder.mkdir(parents=True, exist_ok=True)
        for name, blob in version.files.items():
            self._lend(blob, folder / name)

    def adopt(self, path: Path) -> str:
        """Keep a file that was made here; returns the name of its blob."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        blob = FILES + _name(path)
        kept = self._kept(blob)
        if not kept.exists():
            self._link(path, kept)
        self._touch(kept)
        self._sound.add(blob)
        return blob

    def distrust(self) -> None:
        """Check every file again before it is lent."""
        self._sound.clear()

    def remove_others(self, version: Version) -> None:
        """Files the version does not name and nobody has fetched lately."""
        kept = {self._kept(blob).name for blob in version.files.values()}
        late = (self._clock.now() - GRACE).timestamp()
        for path in self._folder.iterdir():
            if path.name not in kept and _touched(path) < late:
                path.unlink(missing_ok=True)

    def _lend(self, blob: str, place: Path) -> None:
        for _ in range(_TRIES):
            self._have(blob)
            try:
                place.hardlink_to(self._kept(blob))
            except FileNotFoundError:  # another process found it old in this very moment
                continue
            return
        raise Damaged(f"{blob} of the search index does not stay on this machine")

    def _have(self, blob: str) -> None:
        kept = self._kept(blob)
        if kept.is_file() and (self._sound_still(blob, kept) or _name(kept) == kept.name):
            self._touch(kept)
        else:
            self._fetch(blob, kept)
        self._sound.add(blob)

    def _sound_still(self, blob: str, kept: Path) -> bool:
        return blob in self._sound and kept.name.endswith(f"-{kept.stat().st_size}")

    def _fetch(self, blob: str, kept: Path) -> None:
        fetched = kept.with_name(f".{secrets.token_hex(8)}")
        try:
            self._download(blob, fetched)
            if _name(fetched) != kept.name:
                raise Damaged(f"{blob} of the search index is not what was written")
            self._touch(fetched)
            fetched.replace(kept)
        finally:
            fetched.unlink(missing_ok=True)

    def _download(self, blob: str, place: Path) -> None:
        try:
            pieces = self._blobs.read(SEARCH, blob)
        except NotFound:
            raise Damaged(f"{blob} of the search index is missing") from None
        with place.open("wb") as out:
            for piece in pieces:
                out.write(piece)
            out.flush()
            os.fsync(out.fileno())

    def _link(self, path: Path, kept: Path) -> None:
        linked = kept.with_name(f".{secrets.token_hex(8)}")
        linked.hardlink_to(path)
        linked.replace(kept)

    def _touch(self, path: Path) -> None:
        now = self._clock.now().timestamp()
        os.utime(path, (now, now))

    def _kept(self, blob: str) -> Path:
        return self._folder / blob.removeprefix(FILES)


def _name(path: Path) -> str:
    with path.open("rb") as file:
        return f"{hashlib.file_digest(file, 'sha256').hexdigest()[:32]}-{path.stat().st_size}"


def _touched(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")
