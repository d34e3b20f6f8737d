"""Uploads, block by block: open, send blocks in any order and as often as needed, commit."""

import base64
import re
import unicodedata
from typing import Any

import msgspec
from flask import Blueprint, Response, request, url_for

from shared import uploads
from shared.blobs import BlockAddress
from shared.errors import Conflict, Invalid
from shared.videos import Video
from web import edits
from web.access import find_to_change
from web.api.answers import Block, Opened, Unfinished, Upload, Uploads, answer, video_answer
from web.api.reading import body_as
from web.errors import TooLarge
from web.identity import needed
from web.incoming import incoming
from web.site import services, traceparent

blueprint = Blueprint("uploads", __name__, url_prefix="/uploads")

_MARK = "BLOCKID"
_NAME = 255
_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}", re.ASCII)
_LOOK_BACK = 200


class Opening(edits.Details, frozen=True, kw_only=True):
    """The request to open an upload: what the file is, and what is known of the video already. `size` in bytes."""

    filename: str
    size: int
    content_type: str = "application/octet-stream"


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """The ids of the blocks, in the order of their content."""

    blocks: tuple[str, ...]


@blueprint.post("")
def open_upload() -> Response:
    """Open an upload; the same Idempotency-Key asked twice within a day gives the same one."""
    person = needed("creator")
    opening = body_as(Opening)
    if opening.size > services().settings.max_upload:
        raise TooLarge(f"the file is too large: {opening.size:,} bytes; {services().settings.max_upload:,} are allowed")
    wanted = uploads.Request(
        filename=_filename(opening.filename),
        size=opening.size,
        content_type=_content_type(opening.content_type),
        **edits.checked(_said(opening)),
    )
    video = uploads.open_upload(services(), person, wanted, key=request.headers.get("Idempotency-Key"))
    return answer(Opened(**_where(video)), 201)


@blueprint.get("")
def unfinished() -> Response:
    """My uploads that wait for blocks, newest first."""
    person = needed("creator")
    videos, _ = services().catalog.channel(person.id, limit=_LOOK_BACK)
    waiting = [video for video in videos if video.state == "uploading"]
    return answer(Uploads(uploads=tuple(Unfinished(**_state(video)) for video in waiting)))


@blueprint.get("/<video_id>")
def show(video_id: str) -> Response:
    """How an upload stands, and which blocks are here."""
    video = find_to_change(video_id)
    here = uploads.staged(services(), video)
    return answer(Upload(**_state(video), blocks=tuple(Block(id=block.id, size=block.size) for block in here)))


@blueprint.put("/<video_id>/blocks/<whole:block_id>", merge_slashes=False)
def put_block(video_id: str, block_id: str) -> Response:
    """Send one block, with its Content-MD5 if you can; sent again it takes the earlier one's place."""
    video = find_to_change(video_id)
    md5 = _checksum(request.headers.get("Content-MD5"))
    block = uploads.stage(services(), video, _canonical(block_id), incoming(most=video.block_size), md5)
    return answer(Block(id=block_id, size=block.size), 201)


@blueprint.post("/<video_id>/commit")
def commit(video_id: str) -> Response:
    """Make the blocks the video's source, in the order given; asked twice it is the same video."""
    video = find_to_change(video_id)
    asked = body_as(Commit)
    if not asked.blocks:
        raise Invalid("blocks: at least one")
    done = uploads.commit(services(), video, [_canonical(block) for block in asked.blocks], traceparent=traceparent())
    return answer(video_answer(done), 202)


@blueprint.delete("/<video_id>")
def cancel(video_id: str) -> Response:
    """Cancel an upload; one that is over already is a video, to be deleted as such."""
    video = find_to_change(video_id)
    if uploads.give_up(services(), video.id, "The upload was cancelled.").state != "deleted":
        raise Conflict("this upload is over; delete the video instead")
    return Response(status=204)


def _filename(text: str) -> str:
    name = "".join(c for c in unicodedata.normalize("NFC", text) if c.isprintable()).strip()
    if not 1 <= len(name) <= _NAME:
        raise Invalid(f"filename: 1 to {_NAME} characters, not {len(name)}")
    return name


def _content_type(text: str) -> str:
    """A hint that nothing rests on: what the file is, the work on it finds out."""
    plain = text.partition(";")[0].strip()
    return plain if _TYPE.fullmatch(plain) else "application/octet-stream"


def _said(opening: Opening) -> edits.Details:
    """An empty title says nothing: the file's name is taken."""
    return opening if opening.title else msgspec.structs.replace(opening, title=msgspec.UNSET)


def _state(video: Video) -> dict[str, Any]:
    named = {field: getattr(video, field) for field in ("state", "title", "filename", "size", "created")}
    return {**_where(video), **named}


def _where(video: Video) -> dict[str, Any]:
    address = uploads.block_address(services(), video) or _our_address(video)
    return {
        "video_id": video.id,
        "url": url_for("watch.page", video_id=video.id, _external=True),
        "block_size": video.block_size,
        "block_url": address.url,
        "block_headers": address.headers,
    }


def _our_address(video: Video) -> BlockAddress:
    template = url_for("api.uploads.put_block", video_id=video.id, block_id=_MARK, _external=True)
    return BlockAddress(
        url=template.replace(_MARK, "{block_id}"), headers={"Content-Type": "application/octet-stream"}
    )


def _canonical(block_id: str) -> str:
    """Standard base64, whichever alphabet the client's address could carry."""
    text = block_id.strip().replace("-", "+").replace("_", "/").replace(" ", "+")
    return text + "=" * (-len(text) % 4)


def _checksum(text: str | None) -> bytes | None:
    if text is None:
        return None
    try:
        digest = base64.b64decode(text, validate=True)
    except ValueError:
        digest = b""
    if len(digest) != 16:
        raise Invalid("Content-MD5 is the base64 of an MD5: 24 characters")
    return digest
