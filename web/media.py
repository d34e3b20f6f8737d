"""What players fetch: segments and pictures that never change, and the addresses that always lead to the newest."""

from datetime import timedelta
from urllib.parse import quote

from flask import Blueprint, Response, request

from shared.errors import NotFound
from shared.videos import MEDIA, Video
from web.access import find
from web.delivery import deliver
from web.site import services

_FOR_EVER = 31536000
_NAMING_OTHERS = (".m3u8", ".mpd", ".vtt")
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
    if elsewhere := _elsewhere(name):
        return _shared(elsewhere, video)
    response = deliver(MEDIA, name, cache=f"{_scope(video)}, no-cache")
    if "download" in request.args:
        response.headers["Content-Disposition"] = _attachment(video, file)
    return _shared(response, video)


@blueprint.get("/<video_id>/<path:file>")
def file(video_id: str, file: str) -> Response:
    """One file of an attempt, which never changes."""
    video = find(video_id)
    name = f"{video.id}/{file}"
    cache = f"{_scope(video)}, max-age={_FOR_EVER}, immutable"
    return _shared(_elsewhere(name) or deliver(MEDIA, name, cache=cache), video)


def _elsewhere(name: str) -> Response | None:
    """The way to the store itself, by a link for whoever may see the video now; None where it comes from here.

    What names other files by where it stands itself has to come from here, and so has a download, under its title.
    """
    settings = services().settings
    if not settings.redirect_media or name.endswith(_NAMING_OTHERS) or "download" in request.args:
        return None
    if services().blobs.browser_origin() is None:
        return None
    left = _same_for_a_while(settings.link_life)
    link = services().blobs.signed_url(MEDIA, name, right="read", expires_in=left)
    half = int(settings.link_life / 2)
    return Response(status=302, headers={"Location": link, "Cache-Control": f"private, max-age={half}"})


def _same_for_a_while(life: float) -> timedelta:
    """Until a moment that many requests share, so that they get the same link and a browser knows what it has."""
    now = services().clock.now().timestamp()
    return timedelta(seconds=(now // life + 2) * life - now)


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
