"""The one writer of the index: held by a lease, a batch is one commit, and what is committed is published."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from whoosh import index
from whoosh.index import EmptyIndexError

from shared.blobs import Blobs
from shared.clock import Clock
from shared.errors import Busy, Conflict, MatineeError
from shared.search import SEARCH, Document
from shared.search.publication import LOCK, Publication, Version, empty
from shared.search.schema import schema

_LEASE_SECONDS = 60


class IndexWriter:
    """Keeps a working copy in `folder`; a copy that is not the newest published version is thrown away."""

    def __init__(self, blobs: Blobs, clock: Clock, folder: Path) -> None:
        self._blobs = blobs
        self._folder = folder
        self._publication = Publication(blobs, clock)
        self._publication.ensure()

    def apply(self, put: Sequence[Document], remove: Sequence[str]) -> None:
        """Put documents in place of what their videos had, remove others, and publish: all or nothing.

        Raises Busy while another writes, or if it published in between; the same call may be made again.
        """
        with self._alone():
            before, etag = self._publication.newest()
            copy = self._working_copy(before)
            # From here on the copy is no published version until the pointer says so.
            (self._folder / "version").unlink(missing_ok=True)
            documents = _commit(copy, put, remove)
            version, _ = self._publication.publish(self._folder, before, etag, documents)
            (self._folder / "version").write_text(version.name)
            self._publication.remove_old(version)

    def clear(self) -> None:
        """Publish an empty index."""
        with self._alone():
            before, etag = self._publication.newest()
            empty(self._folder)
            self._folder.mkdir(parents=True)
            index.create_in(self._folder, schema()).close()
            self._publication.publish(self._folder, before, etag, 0)

    def _working_copy(self, newest: Version) -> Any:
        marker = self._folder / "version"
        if not marker.is_file() or marker.read_text() != newest.name:
            empty(self._folder)
            self._publication.fetch(newest, self._folder)
        try:
            return index.open_dir(self._folder)
        except (EmptyIndexError, OSError):
            empty(self._folder)
            self._folder.mkdir(parents=True)
            return index.create_in(self._folder, schema())

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            lease = self._blobs.acquire_lease(SEARCH, LOCK, seconds=_LEASE_SECONDS)
        except Conflict:
            raise Busy("another is writing the index") from None
        done = threading.Event()
        keeper = threading.Thread(target=self._keep, args=(lease, done), daemon=True)
        keeper.start()
        try:
            yield
        finally:
            done.set()
            keeper.join()
            with suppress(MatineeError):
                self._blobs.release_lease(SEARCH, LOCK, lease)

    def _keep(self, lease: str, done: threading.Event) -> None:
        # Losing the lease is harmless: the pointer moves only from where this writer saw it.
        while not done.wait(_LEASE_SECONDS / 3):
            with suppress(MatineeError):
                self._blobs.renew_lease(SEARCH, LOCK, lease)


def _commit(copy: Any, put: Sequence[Document], remove: Sequence[str]) -> int:
    writer = copy.writer()
    try:
        for video in remove:
            writer.delete_by_term("video", video)
        for document in put:
            writer.update_document(**_fields(document))
    except BaseException:
        writer.cancel()
        raise
    writer.commit()
    documents = int(copy.doc_count())
    copy.close()
    return documents


def _fields(document: Document) -> dict[str, Any]:
    return {
        "video": document.video,
        "owner": document.owner,
        "privacy": document.privacy,
        "published": int(document.published.timestamp() * 1000),
        "language": document.language or "",
        "document": msgspec.json.encode(document).decode(),
        "title": document.title,
        "description": document.description,
        "tag": " , ".join(document.tags),
        "actor": " , ".join(document.actors),
        "director": " , ".join(document.directors),
        "channel": document.channel,
    }
