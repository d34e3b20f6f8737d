"""What players fetch: segments and pictures that never change, and the addresses that always lead to the newest."""

from urllib.parse import quote

from flask import Blueprint, Response, request

from shared.errors import NotFound
from shared.videos import MEDIA, Video
from web.access import find
from web.delivery import deliver

_FOR_EVER = 31536000
_ALIASES = {
    "master.m3u8": "master",
    "video.mp4": "mp4",
    "poster.jpg": "poster",
    "storyboard.vtt": "storyboard",
}

blueprint = Blueprint("media", __name__, url_prefix="/media")


@blueprint.route("/<video_id>/<path:file>", methods=["OPTIONS"])
def may_ask(video_id: str, file: str) -> Response:  # noqa: ARG001 - the same for every file, there or not
    """What a player on another site may ask with; whether it may read the answer, the answer itself says."""
    allowed = {"Methods": "GET, HEAD", "Headers": "Range, If-None-Match", "Origin": "*"}
    headers = {f"Access-Control-Allow-{what}": value for what, value in allowed.items()}
    return Response(status=204, headers={**headers, "Access-Control-Max-Age": "86400"})


@blueprint.get("/<video_id>/<any('master.m3u8', 'video.mp4', 'poster.jpg', 'storyboard.vtt'):file>")
def alias(video_id: str, file: str) -> Response:
    """The newest of its kind, to be asked for anew each time."""
    video = find(video_id)
    name = getattr(video.playback, _ALIASES[file])
    if name is None:
        raise NotFound(f"this video has no {file} (yet); it is {video.state}")
    response = deliver(MEDIA, name, cache=f"{_scope(video)}, no-cache")
    if "download" in request.args:
        response.headers["Content-Disposition"] = _attachment(video, file)
    return _shared(response, video)


@blueprint.get("/<video_id>/<path:file>")
def file(video_id: str, file: str) -> Response:
    """One file of an attempt, which never changes."""
    video = find(video_id)
    cache = f"{_scope(video)}, max-age={_FOR_EVER}, immutable"
    return _shared(deliver(MEDIA, f"{video.id}/{file}", cache=cache), video)


def _scope(video: Video) -> str:
    """Shared caches may keep what everybody may see."""
    return "public" if video.privacy == "public" else "private"


def _shared(response: Response, video: Video) -> Response:
    """Players on other sites may read what is public."""
    if video.privacy != "private":
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Expose-Headers"] = "Content-Length, Content-Range"
    return response


def _attachment(video: Video, file: str) -> str:
    """The video's title as a file name: in plain letters for old programs, and whole (RFC 5987) for the others."""
    kept = "".join(c for c in video.title if c.isalnum() or c in " ._-()").strip(" .") or video.id
    name = f"{kept}.{file.rpartition('.')[2]}"
    plain = name.encode("ascii", "ignore").decode().strip() or video.id
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}"
