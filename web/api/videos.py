"""One video: look, change, delete, try again."""

from typing import Any

from flask import Blueprint
from werkzeug.wrappers import Response

from web import edits
from web.access import find, find_to_change
from web.api.reading import body_as
from web.cards import as_json

blueprint = Blueprint("videos", __name__, url_prefix="/videos")


@blueprint.get("/<video_id>")
def show(video_id: str) -> dict[str, Any]:
    return as_json(find(video_id))


@blueprint.patch("/<video_id>")
def change(video_id: str) -> dict[str, Any]:
    return as_json(edits.edit(find_to_change(video_id), body_as(edits.Details)))


@blueprint.delete("/<video_id>")
def delete(video_id: str) -> Response:
    edits.delete(find_to_change(video_id))
    return Response(status=204)


@blueprint.post("/<video_id>/retry")
def retry(video_id: str) -> tuple[dict[str, Any], int]:
    return as_json(edits.retry(find_to_change(video_id))), 202
