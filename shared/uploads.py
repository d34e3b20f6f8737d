"""An upload from its opening to its commit: what web does with bytes, and the sweep with what web left half done."""

import hashlib
import math
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import BinaryIO

import msgspec

from shared import videos
from shared.blobs import MAX_BLOCKS, Block, BlockAddress
from shared.errors import Conflict, Full, Invalid, NotFound
from shared.people import Person
from shared.services import Services
from shared.tables import Entity, every_entity
from shared.tickets import Ingest
from shared.videos import SOURCES, Video

UPLOAD_KEYS = "uploadkeys"
"""Table of idempotency keys: partition = owner, row = a digest of the key; its time is when it was first used."""
KEY_LIFE = timedelta(days=1)
"""How long a request may be repeated; a sweep drops older keys."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to upload. `size` in bytes."""

    filename: str
    size: int
    content_type: str = "application/octet-stream"
    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()
    directors: tuple[str, ...] = ()
    language: str | None = None
    privacy: str = "public"


def open_upload(services: Services, owner: Person, request: Request, *, key: str | None = None) -> Video:
    """Enter the video and return it in state uploading; `key` asked twice within a day gives the same video.

    Raises Invalid for what can never be uploaded, Full if the disk has no room for it, Conflict for a `key` that was
    used for another file, or for an upload given up since.
    """
    _check_size(services, request.size)
    if key is not None:
        return _opened_once(services, owner, request, key)
    return _enter(services, owner, request, videos.new_video_id(), services.clock.now())


def old_keys(services: Services) -> Iterator[Entity]:
    services.tables.ensure_table(UPLOAD_KEYS)
    since = services.clock.now() - KEY_LIFE
    return (key for key in every_entity(services.tables, UPLOAD_KEYS, None) if key.timestamp <= since)


def forget_key(services: Services, key: Entity) -> None:
    with suppress(NotFound, Conflict):  # another sweep was here, and it may have been used afresh
        services.tables.delete(UPLOAD_KEYS, key.partition, key.row, if_match=key.etag)


def _opened_once(services: Services, owner: Person, request: Request, key: str) -> Video:
    """The key's own time is the video's, so that what is entered again is entered in the same place of the lists."""
    known = _known(services, owner, key)
    video_id = str(known.properties["video"])
    try:
        return _enter(services, owner, request, video_id, known.timestamp)
    except Conflict:
        return _same(services.catalog.get(video_id), request)


def _known(services: Services, owner: Person, key: str) -> Entity:
    digest = hashlib.sha256(key.encode()).hexdigest()
    services.tables.ensure_table(UPLOAD_KEYS)
    while True:
        with suppress(Conflict):
            services.tables.insert(UPLOAD_KEYS, owner.id, digest, {"video": videos.new_video_id()})
        with suppress(NotFound):  # the sweep dropped an old one between these two lines
            return services.tables.get(UPLOAD_KEYS, owner.id, digest)


def _same(video: Video, request: Request) -> Video:
    if (video.filename, video.size) != (request.filename, request.size):
        raise Conflict("this Idempotency-Key was used for another file; take a new one for each upload")
    if video.state == "deleted":
        raise Conflict("the upload opened with this Idempotency-Key was given up; take a new one")
    return video


def _enter(services: Services, owner: Person, request: Request, video_id: str, created: datetime) -> Video:
    video = Video(
        id=video_id,
        owner=owner.id,
        channel=owner.name,
        title=videos.clean_title(request.title, fallback=title_from(request.filename)),
        description=request.description,
        tags=request.tags,
        actors=request.actors,
        directors=request.directors,
        language=request.language,
        privacy=videos.check_privacy(request.privacy),
        filename=request.filename,
        content_type=request.content_type,
        size=request.size,
        source=videos.source_name(video_id, 1),
        block_size=block_size(request.size, services.settings.block_size),
        created=created,
    )
    return services.catalog.add(video, event="opened")


def stage(services: Services, video: Video, block_id: str, data: bytes | BinaryIO, md5: bytes | None) -> Block:
    """Keep one block. Raises Conflict if the upload is over, Invalid for a corrupt block, Full without room."""
    if video.state != "uploading":
        raise Conflict("this upload is over; nothing can be added to it")
    check_room(services)
    return services.blobs.stage_block(SOURCES, video.source, block_id, data, content_md5=md5)


def block_address(services: Services, video: Video) -> BlockAddress | None:
    """Where a client may send blocks without passing through us; None where it may not. It is good for `link_life`."""
    if video.state != "uploading":
        return None
    life = timedelta(seconds=services.settings.link_life)
    return services.blobs.block_address(SOURCES, video.source, expires_in=life)


def staged(services: Services, video: Video) -> tuple[Block, ...]:
    """The blocks that are here, in no promised order; for an upload that is over, those it was made of."""
    try:
        found = services.blobs.get_block_list(SOURCES, video.source)
    except NotFound:
        return ()
    return found.staged or found.committed


def commit(
    services: Services, video: Video, block_ids: Sequence[str], *, traceparent: str | None = None
) -> Video:
    """Make the blocks the source and send the work; asking again with the same list changes nothing.

    Order: blob, then row, then ticket; whatever dies in between is finished by the next commit or by the sweep.
    Raises Invalid for missing blocks or a size that is not the one announced, Conflict if another list came first, or
    the upload was given up.
    """
    digest = hashlib.sha256("\n".join(block_ids).encode()).hexdigest()
    if video.state != "uploading":
        if video.blocks == digest:
            return video
        raise Conflict("another list of blocks was committed first" if video.blocks else "this upload is over")
    _check_blocks(services, video, block_ids)
    try:
        services.blobs.commit_block_list(
            SOURCES, video.source, block_ids, content_type=video.content_type, metadata={"blocks": digest},
            if_none_match="*",
        )
    except Conflict:
        if services.blobs.stat(SOURCES, video.source).metadata.get("blocks") != digest:
            raise Conflict("another list of blocks was committed first") from None
    done = finish_commit(services, video.id, digest, traceparent=traceparent)
    if done.blocks != digest:
        raise Conflict("this upload is over")
    return done


def finish_commit(services: Services, video_id: str, digest: str, *, traceparent: str | None = None) -> Video:
    """What follows once the source blob stands: the row, then the ticket."""

    def queued(video: Video) -> Video | None:
        if video.state != "uploading":
            return None
        return msgspec.structs.replace(video, state="queued", blocks=digest, committed=services.clock.now())

    video = services.catalog.change(video_id, queued, event="uploaded", traceparent=traceparent)
    if video.state == "queued":
        made = services.clock.now()
        services.tickets.send(
            Ingest(made=made, video=video.id, generation=video.generation, traceparent=traceparent)
        )
    return video


def give_up(services: Services, video_id: str, reason: str) -> Video:
    """End an upload that will not be finished; its blocks go. An upload that is over stays as it is."""

    def over(video: Video) -> Video | None:
        if video.state != "uploading":
            return None
        return msgspec.structs.replace(video, state="deleted", reason=reason, revision=video.revision + 1)

    video = services.catalog.change(video_id, over, event="upload given up")
    if video.state == "deleted":
        services.blobs.discard_uncommitted(SOURCES, video.source)
        services.catalog.mark_idle(video.id)
    return video


def expires(services: Services, video: Video, last_block: datetime | None) -> datetime:
    return max(video.created, last_block or video.created) + timedelta(seconds=services.settings.upload_life)


def check_room(services: Services, wanted: int = 0) -> None:
    """Raises Full when the embedded storage's disk would have less than `min_free` left."""
    if not services.settings.is_local:
        return
    free = shutil.disk_usage(services.settings.local_path()).free
    if free - wanted < services.settings.min_free:
        raise Full("the server's disk is full; what was sent is safe, and the upload can go on when there is room")


def block_size(size: int, usual: int) -> int:
    """Bytes of each block but the last, so that 50,000 blocks are enough."""
    needed = math.ceil(size / MAX_BLOCKS)
    return usual if needed <= usual else math.ceil(needed / 1024**2) * 1024**2


def title_from(filename: str) -> str:
    stem = filename.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return videos.clean_title(stem.replace("_", " "))


def _check_size(services: Services, size: int) -> None:
    if size <= 0:
        raise Invalid("the file is empty")
    if size > services.settings.max_upload:
        raise Invalid(f"the file is too large: {size:,} bytes, and {services.settings.max_upload:,} are allowed")
    check_room(services, size)


def _check_blocks(services: Services, video: Video, block_ids: Sequence[str]) -> None:
    try:
        found = services.blobs.get_block_list(SOURCES, video.source)
    except NotFound:
        raise Invalid("no block of this upload is here") from None
    sizes = {block.id: block.size for block in (*found.committed, *found.staged)}
    missing = [block for block in block_ids if block not in sizes]
    if missing and found.committed:
        raise Conflict("another list of blocks was committed first")
    if missing:
        names = ", ".join(missing[:5]) + (" ..." if len(missing) > 5 else "")
        raise Invalid(f"{len(missing)} of {len(block_ids)} blocks are not here: {names}; send them and commit again")
    total = sum(sizes[block] for block in block_ids)
    if total != video.size:
        raise Invalid(f"the blocks hold {total:,} bytes, but {video.size:,} were announced; nothing was lost")
