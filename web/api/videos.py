"""One video: look, change, delete, try again."""

from flask import Blueprint, Response

from shared import decisions
from web import edits
from web.access import find, find_to_change
from web.api.answers import answer, video_answer
from web.api.reading import body_as
from web.site import services, traceparent

blueprint = Blueprint("videos", __name__, url_prefix="/videos")


@blueprint.get("/<video_id>")
def show(video_id: str) -> Response:
    """A video, how far it is, and where it plays from."""
    return answer(video_answer(find(video_id)))


@blueprint.patch("/<video_id>")
def change(video_id: str) -> Response:
    """Change what is said of a video; fields left out stay as they are."""
    return answer(video_answer(edits.edit(find_to_change(video_id), body_as(edits.Details))))


@blueprint.delete("/<video_id>")
def delete(video_id: str) -> Response:
    """Delete a video: it is gone at once, for everybody."""
    decisions.delete(services(), find_to_change(video_id).id, traceparent=traceparent())
    return Response(status=204)


@blueprint.post("/<video_id>/retry")
def retry(video_id: str) -> Response:
    """Let work go on that was given up."""
    video = decisions.retry(services(), find_to_change(video_id).id, traceparent=traceparent())
    return answer(video_answer(video), 202)
