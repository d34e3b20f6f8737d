"""Blobs: named byte sequences in containers, written whole or block by block, visible only when complete."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import BinaryIO, Literal, Protocol

MAX_BLOCKS = 50_000
"""Blocks in one blob (Azure: "Scalability and performance targets for Blob storage")."""
MAX_BLOCK_ID_BYTES = 64
MAX_METADATA_BYTES = 8 * 1024
UNCOMMITTED_LIFE = timedelta(days=7)
"""A staged block nobody committed or added to for this long may be collected (Azure's documented week)."""

Access = Literal["private", "public"]
Right = Literal["read", "write"]


@dataclass(frozen=True, kw_only=True)
class Blob:
    """What is known of a committed blob. `size` in bytes; `etag` opaque, new at every change of data or metadata."""

    container: str
    name: str
    size: int
    etag: str
    last_modified: datetime
    content_type: str = "application/octet-stream"
    cache_control: str | None = None
    content_md5: bytes | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A piece of an upload. `id` is base64 text that decodes to at most 64 bytes; `size` in bytes."""

    id: str
    size: int


@dataclass(frozen=True, kw_only=True)
class BlockList:
    """`committed` in content order; `staged` (not yet committed) in no promised order."""

    committed: tuple[Block, ...]
    staged: tuple[Block, ...]


@dataclass(frozen=True, kw_only=True)
class BlobPage:
    """One page of a listing: blobs and, with a delimiter, the prefixes of "folders", each once, both by name.

    `marker` is opaque; None says there is no further page. A page may hold fewer entries than asked for.
    """

    blobs: tuple[Blob, ...]
    prefixes: tuple[str, ...]
    marker: str | None


@dataclass(frozen=True, kw_only=True)
class BlockAddress:
    """Where anybody may PUT blocks of one blob for a time, with `headers`; the answer to a block kept is 201.

    `url` holds "{block_id}", to be replaced by the id as it is escaped for an address.
    """

    url: str
    headers: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Container:
    name: str
    access: Access
    etag: str
    last_modified: datetime
    metadata: Mapping[str, str]


class Blobs(Protocol):
    """The blob store.

    A write is durable (fsynced, or replicated) before the call returns, and visible to the very next read. A reader
    sees the old blob or the new one, never a mixture or a part. Container names: 3-63 of a-z, 0-9 and single hyphens.
    Blob names: 1-1,024 characters of any Unicode, "/" included; no name can reach outside its container. A name or
    argument outside these limits raises Invalid; a missing container or blob NotFound; a full disk Full; a store that
    will not answer Busy.

    Conditions: `if_match` (an ETag, or "*" for "must exist"), `if_none_match` ("*" for "must not exist"; on reads an
    ETag for "must have changed"), `if_modified_since` and `if_unmodified_since`. A condition that does not hold
    raises Conflict and changes nothing.
    """

    def create_container(
        self, name: str, *, access: Access = "private", metadata: Mapping[str, str] | None = None
    ) -> None:
        """Raises Conflict if it exists, or is still being deleted (up to 30 s after delete_container)."""
        ...

    def ensure_container(self, name: str, *, access: Access = "private") -> None:
        """Create it unless it exists."""
        ...

    def get_container(self, name: str) -> Container: ...

    def set_container_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        """Overwrites all of it; 8 KB at most in names and values together."""
        ...

    def set_container_access(self, name: str, access: Access) -> None: ...

    def list_containers(self, *, prefix: str = "") -> list[Container]: ...

    def delete_container(self, name: str) -> None:
        """Acknowledged at once: its blobs are gone for every reader; bytes are cleaned later."""
        ...

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
        """Insert or overwrite whole. `data` is read once, in pieces; memory stays flat. Staged blocks are dropped.

        `content_md5` (16 bytes), when given, is checked against what arrived: Invalid if it differs.
        """
        ...

    def stage_block(
        self, container: str, name: str, block_id: str, data: bytes | BinaryIO, *, content_md5: bytes | None = None,
        lease_id: str | None = None,
    ) -> Block:
        """Keep one block, unreadable until committed; the blob need not exist. The latest of equal ids wins.

        A block has at least one byte. All ids of one blob decode to the same length (Invalid otherwise, as on Azure).
        A checksum mismatch raises Invalid and leaves an earlier block of that id as it was. Safe from many writers at
        once, in any order.
        """
        ...

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
        """The list's order becomes the content, atomically, without copying bytes however large it is.

        Each id is looked up among staged blocks first, then committed ones; an unknown id raises Invalid and
        changes nothing. Afterwards all staged blocks, and committed ones left out, are garbage.
        """
        ...

    def get_block_list(self, container: str, name: str) -> BlockList:
        """Raises NotFound only if the blob has neither committed nor staged blocks. A blob `put` whole has none."""
        ...

    def stat(self, container: str, name: str) -> Blob: ...

    def get(
        self,
        container: str,
        name: str,
        *,
        if_match: str | None = None,
        if_none_match: str | None = None,
        if_modified_since: datetime | None = None,
    ) -> bytes:
        """The whole content; for small blobs."""
        ...

    def read(
        self, container: str, name: str, *, start: int = 0, end: int | None = None, if_match: str | None = None
    ) -> Iterator[bytes]:
        """Bytes [start, end) in pieces of at most 1 MiB; `end` None or past the end means to the end.

        `start` at or past the end raises Invalid (an empty blob read from 0 yields nothing). Failures are raised by
        the call itself, not at the first piece. The content is that of one version even if it is overwritten, or
        deleted, meanwhile; or Conflict is raised in the middle.
        """
        ...

    def set_metadata(
        self, container: str, name: str, metadata: Mapping[str, str], *, if_match: str | None = None,
        lease_id: str | None = None,
    ) -> Blob:
        """Overwrites all metadata, not the data; 8 KB at most."""
        ...

    def delete(
        self, container: str, name: str, *, if_match: str | None = None, lease_id: str | None = None
    ) -> None:
        """Raises NotFound if there is no such blob. Its staged blocks go too."""
        ...

    def list_blobs(
        self, container: str, *, prefix: str = "", delimiter: str | None = None, limit: int = 1000,
        marker: str | None = None,
    ) -> BlobPage:
        """Committed blobs by name (code point order); `limit` 1-5,000 counts blobs and prefixes together."""
        ...

    def list_uncommitted(self, container: str, *, prefix: str = "") -> Iterator[tuple[str, datetime]]:
        """(name, time of the last staged block) of each blob name that has staged blocks but no committed content."""
        ...

    def discard_uncommitted(self, container: str, name: str) -> None:
        """Drop the staged blocks of a name; committed content stays. Dropping nothing is not an error."""
        ...

    def acquire_lease(self, container: str, name: str, *, seconds: int, lease_id: str | None = None) -> str:
        """An exclusive write lease for 15-60 s, or -1 for no end; returns its id. Conflict while another holds it.

        Until it ends, put, stage, commit, set_metadata and delete of that blob raise Conflict unless given this
        `lease_id`. A write given an id that does not hold the blob (any more) raises Conflict too, so it is a fence.
        Acquiring again with the id that holds it renews it. A lease survives an overwrite and ends with a delete.
        """
        ...

    def renew_lease(self, container: str, name: str, lease_id: str) -> None:
        """Starts its time again; Lost if another has taken it, it was broken, or the blob was written after its end."""
        ...

    def release_lease(self, container: str, name: str, lease_id: str) -> None:
        """Frees it at once; Lost if it is not ours."""
        ...

    def break_lease(self, container: str, name: str) -> None:
        """Ends anyone's lease at once (an operator's tool)."""
        ...

    def signed_url(self, container: str, name: str, *, right: Right, expires_in: timedelta) -> str:
        """A URL that gives whoever holds it one right on this one blob until it expires.

        The embedded backend returns a path ("/blobs/...") that the web role serves; a cloud backend an absolute URL.
        """
        ...

    def block_address(self, container: str, name: str, *, expires_in: timedelta) -> BlockAddress | None:
        """None where the store has no door of its own, and blocks go through whoever calls stage_block."""
        ...

    def browser_origin(self) -> str | None:
        """The scheme, host and port that signed URLs lead browsers to; None where they lead to the web role."""
        ...

    def collect_garbage(self) -> int:
        """Free the bytes nobody can reach any more (old versions, dropped and expired blocks); returns bytes freed.

        A store that does this by itself returns 0.
        """
        ...


def every_page(
    blobs: Blobs, container: str, *, prefix: str = "", delimiter: str | None = None, limit: int = 1000
) -> Iterator[BlobPage]:
    """Page after page of a listing to its end, each of at most `limit`."""
    marker = None
    while True:
        page = blobs.list_blobs(container, prefix=prefix, delimiter=delimiter, limit=limit, marker=marker)
        yield page
        marker = page.marker
        if marker is None:
            return
