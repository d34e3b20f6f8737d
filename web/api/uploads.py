"""Uploads, block by block: open, send blocks in any order and as often as needed, commit."""

import base64
import unicodedata
from typing import Any

import msgspec
from flask import Blueprint, request, url_for
from werkzeug.wrappers import Response

from shared import uploads
from shared.errors import Conflict, Invalid
from shared.videos import Video
from web import edits
from web.access import find_to_change
from web.api.reading import body_as
from web.cards import as_json
from web.errors import TooLarge
from web.identity import needed
from web.site import services

blueprint = Blueprint("uploads", __name__, url_prefix="/uploads")

_MARK = "BLOCKID"
_NAME = 255


class Opening(edits.Details, frozen=True, kw_only=True):
    """The request to open an upload: what the file is, and what is known of the video already. `size` in bytes."""

    filename: str
    size: int
    content_type: str = "application/octet-stream"


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """The ids of the blocks, in the order of their content."""

    blocks: tuple[str, ...]


@blueprint.post("")
def open_upload() -> tuple[dict[str, Any], int]:
    person = needed("creator")
    opening = body_as(Opening)
    if opening.size > services().settings.max_upload:
        raise TooLarge(f"the file is too large: {opening.size:,} bytes; {services().settings.max_upload:,} are allowed")
    name = unicodedata.normalize("NFC", opening.filename).replace("\x00", "").strip()
    if not 1 <= len(name) <= _NAME:
        raise Invalid(f"filename: 1 to {_NAME} characters, not {len(name)}")
    said: dict[str, Any] = {
        field: value for field, value in edits.checked(opening).items() if not (field == "title" and not opening.title)
    }
    wanted = uploads.Request(filename=name, size=opening.size, content_type=opening.content_type[:100], **said)
    video = uploads.open_upload(services(), person, wanted, key=request.headers.get("Idempotency-Key"))
    return _where(video), 201


@blueprint.get("")
def unfinished() -> dict[str, Any]:
    """This person's uploads that wait for blocks, newest first."""
    person = needed("creator")
    videos, _ = services().catalog.channel(person.id, limit=200)
    waiting = [video for video in videos if video.state == "uploading"]
    return {"uploads": [_state(video) for video in waiting]}


@blueprint.get("/<video_id>")
def show(video_id: str) -> dict[str, Any]:
    video = find_to_change(video_id)
    blocks = uploads.staged(services(), video)
    return {**_state(video), "blocks": [{"id": block.id, "size": block.size} for block in blocks]}


@blueprint.put("/<video_id>/blocks/<path:block_id>")
def put_block(video_id: str, block_id: str) -> tuple[dict[str, Any], int]:
    video = find_to_change(video_id)
    length = request.content_length
    if length is None:
        raise Invalid("say how long the block is (Content-Length)")
    if length > video.block_size:
        raise TooLarge(f"a block is at most {video.block_size:,} bytes, not {length:,}")
    if length == 0:
        raise Invalid("the block is empty")
    md5 = _checksum(request.headers.get("Content-MD5"))
    block = uploads.stage(services(), video, _canonical(block_id), request.stream, md5)  # type: ignore[arg-type]
    if block.size != length:
        raise Invalid(f"only {block.size:,} of {length:,} bytes of the block arrived; send it again")
    return {"id": block_id, "size": block.size}, 201


@blueprint.post("/<video_id>/commit")
def commit(video_id: str) -> tuple[dict[str, Any], int]:
    video = find_to_change(video_id)
    asked = body_as(Commit)
    if not asked.blocks:
        raise Invalid("blocks: at least one")
    done = uploads.commit(services(), video, [_canonical(block) for block in asked.blocks])
    return as_json(done), 202


@blueprint.delete("/<video_id>")
def cancel(video_id: str) -> Response:
    """End an upload; one that is over already is a video, to be deleted as such."""
    video = find_to_change(video_id)
    if uploads.give_up(services(), video.id, "The upload was cancelled.").state != "deleted":
        raise Conflict("this upload is over; delete the video instead")
    return Response(status=204)


def _state(video: Video) -> dict[str, Any]:
    return {**_where(video), "state": video.state, "title": video.title, "filename": video.filename, "size": video.size}


def _where(video: Video) -> dict[str, Any]:
    """Where blocks go. Clients follow it blindly, so that it may point elsewhere one day."""
    template = url_for("api.uploads.put_block", video_id=video.id, block_id=_MARK, _external=True)
    return {
        "video_id": video.id,
        "url": url_for("watch.page", video_id=video.id, _external=True),
        "block_size": video.block_size,
        "block_url": template.replace(_MARK, "{block_id}"),
        "block_headers": {"Content-Type": "application/octet-stream"},
    }


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
