"""Blobs from one store to another: many at once, each in blocks whose checksums the target checks as they arrive."""

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from infra.migration.journal import Copied, Journal
from shared.blobs import Blob, Blobs, Container
from shared.claimcheck import CLAIMS
from shared.errors import Conflict, Invalid, NotFound

BLOCK = 8 * 1024**2
AT_ONCE = 8
_WAITING = 64
"""Blobs handed to the threads ahead of time: a site may have millions."""

Moved = Callable[[int], None]


class BlobCopy:
    """`moved` is told of bytes as they are dealt with, copied or found to be there."""

    def __init__(self, source: Blobs, target: Blobs, journal: Journal, moved: Moved) -> None:
        self._source = source
        self._target = target
        self._journal = journal
        self._moved = moved
        self.copied = 0
        self.kept = 0
        self.removed = 0

    def run(self) -> None:
        for container in containers(self._source):
            self._ensure(container)
            known = self._journal.of(container.name)
            seen: set[str] = set()
            changed = self._changed(container.name, known, seen)
            self.copied += _each(self._copy, changed)
            for name in known.keys() - seen:
                self._remove(container.name, known[name])

    def check(self, moved: Moved) -> int:
        """Read every blob of both and compare. Returns how many; raises Invalid naming one that differs."""

        def compare(blob: Blob) -> None:
            if _digest(self._source, blob) != _digest(self._target, blob):
                raise Invalid(f"{_said(blob)} is not the same at the target; copy again, then check again")
            moved(blob.size)

        return _each(compare, blobs(self._source))

    def _ensure(self, container: Container) -> None:
        self._target.ensure_container(container.name, access=container.access)
        self._target.set_container_access(container.name, container.access)
        self._target.set_container_metadata(container.name, container.metadata)

    def _changed(self, container: str, known: dict[str, Copied], seen: set[str]) -> Iterator[Blob]:
        there = _versions(self._target, container)
        for blob in _blobs_of(self._source, container):
            seen.add(blob.name)
            copied = known.get(blob.name)
            if copied and copied.source == blob.etag and there.get(blob.name) == copied.target:
                self.kept += 1
                self._moved(blob.size)
            else:
                yield blob

    def _copy(self, blob: Blob) -> None:
        try:
            target = self._write(blob)
        except NotFound:  # it went while we walked; the next run sees that
            return
        if target.size != blob.size:
            raise Invalid(f"{_said(blob)} has {target.size:,} bytes at the target instead of {blob.size:,}")
        self._journal.note(blob, target)

    def _write(self, blob: Blob) -> Blob:
        pieces = _blocks(self._source.read(blob.container, blob.name, if_match=blob.etag))
        whole = hashlib.md5(usedforsecurity=False)
        ids = []
        for number, piece in enumerate(pieces):
            block_id = base64.b64encode(f"{number:06d}".encode()).decode()
            checksum = hashlib.md5(piece, usedforsecurity=False).digest()
            self._target.stage_block(blob.container, blob.name, block_id, piece, content_md5=checksum)
            whole.update(piece)
            ids.append(block_id)
            self._moved(len(piece))
        if blob.content_md5 and whole.digest() != blob.content_md5:
            raise Invalid(f"{_said(blob)} is damaged at the source: its bytes do not have the checksum it was given")
        if not ids:
            return self._target.put(
                blob.container, blob.name, b"", content_type=blob.content_type, cache_control=blob.cache_control,
                metadata=blob.metadata,
            )
        return self._target.commit_block_list(
            blob.container, blob.name, ids, content_type=blob.content_type, cache_control=blob.cache_control,
            metadata=blob.metadata,
        )

    def _remove(self, container: str, copied: Copied) -> None:
        """Gone at the source; what somebody else wrote over it since is not ours to remove."""
        try:
            self._target.delete(container, copied.name, if_match=copied.target)
            self.removed += 1
        except (NotFound, Conflict):
            pass
        self._journal.forget(container, copied.name)


def containers(store: Blobs) -> list[Container]:
    """What belongs to a site: neither bodies of messages, which are not moved, nor what a service keeps for itself."""
    return [one for one in store.list_containers() if one.name != CLAIMS and not one.name.startswith("$")]


def blobs(store: Blobs) -> Iterator[Blob]:
    for container in containers(store):
        yield from _blobs_of(store, container.name)


def _blobs_of(store: Blobs, container: str) -> Iterator[Blob]:
    marker = None
    while True:
        page = store.list_blobs(container, marker=marker)
        yield from page.blobs
        marker = page.marker
        if marker is None:
            return


def _versions(store: Blobs, container: str) -> dict[str, str]:
    return {blob.name: blob.etag for blob in _blobs_of(store, container)}


def _blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    gathered = bytearray()
    for piece in pieces:
        gathered += piece
        while len(gathered) >= BLOCK:
            yield bytes(gathered[:BLOCK])
            del gathered[:BLOCK]
    if gathered:
        yield bytes(gathered)


def _digest(store: Blobs, blob: Blob) -> bytes:
    digest = hashlib.sha256()
    for piece in store.read(blob.container, blob.name):
        digest.update(piece)
    return digest.digest()


def _each(work: Callable[[Blob], None], todo: Iterable[Blob]) -> int:
    """Do it for every blob, several at a time; the first failure ends it, after what is in hand. Returns how many."""
    done = 0
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="copy") as pool:
        running: set[Future[None]] = set()
        for blob in todo:
            running.add(pool.submit(work, blob))
            if len(running) >= _WAITING:
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                done += sum(1 for one in ended if one.result() is None)
        done += sum(1 for one in running if one.result() is None)
    return done


def _said(blob: Blob) -> str:
    return f"the blob {blob.name} in {blob.container}"
