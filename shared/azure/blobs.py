"""Blobs over Azure Blob Storage."""

import base64
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from azure.storage.blob import BlobClient, BlobLeaseClient, ContentSettings, StorageStreamDownloader

from shared.azure import blocks, bodies, names
from shared.azure.account import Account
from shared.azure.conditions import conditions, etag_of
from shared.azure.containers import Containers
from shared.azure.faults import named
from shared.azure.links import Links
from shared.azure.listing import Listing, described
from shared.azure.metadata import to_headers
from shared.blobs import Access, Blob, BlobPage, Block, BlockAddress, BlockList, Container, Right
from shared.errors import Conflict, Invalid, NotFound
from shared.limits import block_id_length, check_block_count

_PIECE = 1024**2
_AT_ONCE = 4 * 1024**2
"""Bytes of the largest blob sent by one request; a larger one goes as blocks of as many, so that memory stays flat."""
_BLOCK = _AT_ONCE


class AzureBlobs:
    """Every write is checked by the service against the checksum of what was sent."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._containers = Containers(account.blobs)
        self._listing = Listing(self._containers)
        self._links = Links(account)

    # Containers

    def create_container(
        self, name: str, *, access: Access = "private", metadata: Mapping[str, str] | None = None
    ) -> None:
        self._containers.create(name, access, metadata)

    def ensure_container(self, name: str, *, access: Access = "private") -> None:
        self._containers.ensure(name, access)

    def get_container(self, name: str) -> Container:
        return self._containers.get(name)

    def set_container_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        self._containers.set_metadata(name, metadata)

    def set_container_access(self, name: str, access: Access) -> None:
        self._containers.set_access(name, access)

    def list_containers(self, *, prefix: str = "") -> list[Container]:
        return self._containers.list(prefix)

    def delete_container(self, name: str) -> None:
        self._containers.delete(name)

    # Writing

    def put(
        self,
        container: str,
        name: str,
        data: bytes | BinaryIO,
        *,
        content_type: str = "application/octet-stream",
        cache_control: str | None = None,
        content_md5: bytes | None = None,
        metadata: Mapping[str, str] | None = None,
        if_match: str | None = None,
        if_none_match: str | None = None,
        if_unmodified_since: datetime | None = None,
        lease_id: str | None = None,
    ) -> Blob:
        words = conditions(
            if_match=if_match, if_none_match=if_none_match, if_unmodified_since=if_unmodified_since, lease_id=lease_id
        )
        headers = to_headers(metadata)
        with bodies.whole(data, content_md5) as body, self._blob(container, name) as blob:
            settings = ContentSettings(
                content_type=content_type, cache_control=cache_control, content_md5=bytearray(body.md5)
            )
            about = {"content_settings": settings, "metadata": headers, **words}
            done = _put_whole(blob, body, about) if body.size <= _AT_ONCE else _put_in_blocks(blob, body, about)
            return Blob(
                container=container,
                name=name,
                size=body.size,
                etag=etag_of(done["etag"]),
                last_modified=done["last_modified"].astimezone(UTC),
                content_type=content_type,
                cache_control=cache_control,
                content_md5=body.md5,
                metadata=dict(metadata or {}),
            )

    def stage_block(
        self, container: str, name: str, block_id: str, data: bytes | BinaryIO, *, content_md5: bytes | None = None,
        lease_id: str | None = None,
    ) -> Block:
        block_id_length(block_id)
        with bodies.whole(data, content_md5) as body, self._blob(container, name) as blob:
            if not body.size:
                raise Invalid("a block has at least one byte")
            blob.stage_block(
                blocks.as_given(block_id), body.data, length=body.size, transactional_content_md5=bytearray(body.md5),
                **conditions(lease_id=lease_id),
            )
        return Block(id=block_id, size=body.size)

    def commit_block_list(
        self,
        container: str,
        name: str,
        block_ids: Sequence[str],
        *,
        content_type: str = "application/octet-stream",
        cache_control: str | None = None,
        metadata: Mapping[str, str] | None = None,
        if_match: str | None = None,
        if_none_match: str | None = None,
        lease_id: str | None = None,
    ) -> Blob:
        check_block_count(len(block_ids))
        for block_id in block_ids:
            block_id_length(block_id)
        words = conditions(if_match=if_match, if_none_match=if_none_match, lease_id=lease_id)
        with self._blob(container, name) as blob:
            done = blob.commit_block_list(
                blocks.latest(block_ids),
                content_settings=ContentSettings(content_type=content_type, cache_control=cache_control),
                metadata=to_headers(metadata),
                **words,
            )
            return replace(_known(blob, container, name), etag=etag_of(done["etag"]))

    def set_metadata(
        self,
        container: str,
        name: str,
        metadata: Mapping[str, str],
        *,
        if_match: str | None = None,
        lease_id: str | None = None,
    ) -> Blob:
        headers = to_headers(metadata)
        with self._blob(container, name) as blob:
            done = blob.set_blob_metadata(headers, **conditions(if_match=if_match, lease_id=lease_id))
            return replace(_known(blob, container, name), etag=etag_of(done["etag"]))

    def delete(
        self, container: str, name: str, *, if_match: str | None = None, lease_id: str | None = None
    ) -> None:
        with self._blob(container, name) as blob:
            blob.delete_blob(**conditions(if_match=if_match, lease_id=lease_id))

    # Reading

    def get_block_list(self, container: str, name: str) -> BlockList:
        seen: list[Any] = []
        with self._blob(container, name) as blob:
            blob.get_block_list("all", raw_response_hook=seen.append)
        return blocks.read_list(seen[-1])

    def stat(self, container: str, name: str) -> Blob:
        with self._blob(container, name) as blob:
            return _known(blob, container, name)

    def get(
        self,
        container: str,
        name: str,
        *,
        if_match: str | None = None,
        if_none_match: str | None = None,
        if_modified_since: datetime | None = None,
    ) -> bytes:
        words = conditions(if_match=if_match, if_none_match=if_none_match, if_modified_since=if_modified_since)
        with self._blob(container, name) as blob:
            return bytes(blob.download_blob(**words).readall())

    def read(
        self, container: str, name: str, *, start: int = 0, end: int | None = None, if_match: str | None = None
    ) -> Iterator[bytes]:
        outside = Invalid(f"blob {name} in {container} cannot be read from byte {start}: it ends before")
        if start < 0:
            raise outside
        length = None if end is None else max(1, end - start)
        try:
            with self._blob(container, name) as blob:
                # One range after the other, each asked of the version the first one came from.
                opened = blob.download_blob(offset=start, length=length, **conditions(if_match=if_match))
        except Invalid:  # 416: there is no byte at all, or none from there on
            if start:
                raise outside from None
            return iter(())
        if not opened.size:
            raise outside
        return iter(()) if end is not None and end <= start else _pieces(opened, f"blob {name} in {container}")

    def list_blobs(
        self,
        container: str,
        *,
        prefix: str = "",
        delimiter: str | None = None,
        limit: int = 1000,
        marker: str | None = None,
    ) -> BlobPage:
        return self._listing.page(container, prefix, delimiter, limit, marker)

    def list_uncommitted(self, container: str, *, prefix: str = "") -> Iterator[tuple[str, datetime]]:
        """On this service the time may be that of the first block."""
        found = self._listing.maybe_uncommitted(container, prefix)
        return ((name, last) for name, last in found if self._find(container, name) is None)

    def discard_uncommitted(self, container: str, name: str) -> None:
        """The service has no such operation: staged blocks go with a commit, an overwrite, or by themselves in a week.

        Where nothing is committed, an empty list is committed, under the condition that nothing is, and deleted. Where
        something is, its own list is committed once more; a blob put whole has none, so there they wait for their week.
        """
        with self._blob(container, name) as blob:
            try:
                known = self.get_block_list(container, name)
            except NotFound:
                self.get_container(container)
                return
            if not known.staged:
                return
            stored = self._find(container, name)
            if stored is None:
                self._drop(blob)
            elif known.committed:
                settings = ContentSettings(content_type=stored.content_type, cache_control=stored.cache_control)
                blob.commit_block_list(
                    blocks.committed(block.id for block in known.committed),
                    content_settings=settings, metadata=to_headers(stored.metadata), **conditions(if_match=stored.etag),
                )

    # Leases

    def acquire_lease(self, container: str, name: str, *, seconds: int, lease_id: str | None = None) -> str:
        if seconds != -1 and not 15 <= seconds <= 60:
            raise Invalid(f"a lease is for 15 to 60 seconds, or -1 for no end, not {seconds}")
        with self._blob(container, name) as blob:
            lease = BlobLeaseClient(blob, lease_id=lease_id)
            lease.acquire(seconds)
            return str(lease.id)

    def renew_lease(self, container: str, name: str, lease_id: str) -> None:
        with self._blob(container, name) as blob:
            BlobLeaseClient(blob, lease_id).renew()

    def release_lease(self, container: str, name: str, lease_id: str) -> None:
        with self._blob(container, name) as blob:
            BlobLeaseClient(blob, lease_id).release()

    def break_lease(self, container: str, name: str) -> None:
        with self._blob(container, name) as blob:
            BlobLeaseClient(blob).break_lease(0)

    # Links and garbage

    def signed_url(self, container: str, name: str, *, right: Right, expires_in: timedelta) -> str:
        with self._blob(container, name) as blob:
            return self._links.url(blob, right, expires_in)

    def block_address(self, container: str, name: str, *, expires_in: timedelta) -> BlockAddress:
        with self._blob(container, name) as blob:
            url = self._links.url(blob, "write", expires_in)
        return BlockAddress(url=f"{url}&comp=block&blockid={{block_id}}", headers={})

    def browser_origin(self) -> str:
        address = urlsplit(self._account.blobs.url)
        return f"{address.scheme}://{address.netloc}"

    def collect_garbage(self) -> int:
        """The service does it by itself."""
        return 0

    # Inside

    @contextmanager
    def _blob(self, container: str, name: str) -> Iterator[BlobClient]:
        about = f"blob {name} in {container}"
        with self._containers.at(container, about) as client:
            yield client.get_blob_client(names.write(name))

    def _find(self, container: str, name: str) -> Blob | None:
        try:
            return self.stat(container, name)
        except NotFound:
            return None

    def _drop(self, blob: BlobClient) -> None:
        try:
            with named("staged blocks"):
                done = blob.commit_block_list([], **conditions(if_none_match="*"))
                blob.delete_blob(**conditions(if_match=etag_of(done["etag"])))
        except (Conflict, NotFound):  # somebody committed meanwhile: what was staged is content or gone
            return


def _put_whole(blob: BlobClient, body: bodies.Body, about: dict[str, Any]) -> Any:
    data = body.data if isinstance(body.data, bytes) else body.data.read()
    return blob.upload_blob(
        data, length=body.size, overwrite=True, transactional_content_md5=bytearray(body.md5), **about
    )


def _put_in_blocks(blob: BlobClient, body: bodies.Body, about: dict[str, Any]) -> Any:
    """Under ids of their own; staged ones of another length would be in their way and are of no use after this."""
    made = [_block_id() for _ in range(-(-body.size // _BLOCK))]
    for number, block_id in enumerate(made):
        with bodies.whole(_cut(body.data, number), None) as piece:
            blob.stage_block(
                blocks.as_given(block_id), piece.data, length=piece.size, transactional_content_md5=bytearray(piece.md5)
            )
    return blob.commit_block_list(blocks.latest(made), **about)


def _cut(data: bytes | BinaryIO, number: int) -> bytes:
    if isinstance(data, bytes):
        return data[number * _BLOCK : (number + 1) * _BLOCK]
    return data.read(_BLOCK)


def _block_id() -> str:
    return base64.b64encode(secrets.token_bytes(18)).decode()


def _known(blob: BlobClient, container: str, name: str) -> Blob:
    return described(blob.get_blob_properties(), container, name)


def _pieces(opened: StorageStreamDownloader[bytes], about: str) -> Iterator[bytes]:
    with named(about):
        for chunk in opened.chunks():
            yield from (chunk[start : start + _PIECE] for start in range(0, len(chunk), _PIECE))
