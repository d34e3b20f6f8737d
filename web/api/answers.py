"""What the API answers with: the records its description is made from, and how a video becomes one."""

from datetime import datetime
from typing import Any

import msgspec
from flask import Response

from shared.search import Hit
from shared.videos import Privacy, State, Video
from web.cards import VideoView, view


class Rendition(msgspec.Struct, frozen=True, kw_only=True):
    """One quality to choose. Sizes in pixels."""

    label: str
    width: int
    height: int


class Playback(msgspec.Struct, frozen=True, kw_only=True):
    """Where it plays from: addresses on this site, null for what is not there (yet)."""

    hls: str | None
    mp4: str | None
    poster: str | None
    storyboard: str | None


class VideoAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One video. `progress` 0 to 100, `duration` in seconds, `size` in bytes, `reason` why it failed.

    `notes` are sentences for its owner and operators, of what was changed, left out or given up; empty for others.
    """

    id: str
    title: str
    description: str
    tags: tuple[str, ...]
    actors: tuple[str, ...]
    directors: tuple[str, ...]
    language: str | None
    privacy: Privacy
    channel: str
    state: State
    progress: int
    reason: str | None
    notes: tuple[str, ...]
    duration: float | None
    width: int | None
    height: int | None
    size: int
    created: datetime
    published: datetime | None
    url: str
    embed_url: str
    renditions: tuple[Rendition, ...]
    playback: Playback


class FoundVideo(VideoAnswer, frozen=True, kw_only=True):
    """A video found. The `*_html` texts are escaped, with what matched in <mark>."""

    title_html: str
    snippet_html: str


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """`total` counts all that matched, `videos` are those of the page asked for, best first."""

    total: int
    videos: tuple[FoundVideo, ...]


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A block that is here. `size` in bytes."""

    id: str
    size: int


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """Where blocks go: PUT each to `block_url`, its id in place of `{block_id}`, with `block_headers`.

    Blocks are `block_size` bytes, the last what is left. Follow the address and the headers blindly: they may lead to
    the storage itself. Send your token only where the address is this site's; after a 403 ask for the upload again,
    which has a new address.
    """

    video_id: str
    url: str
    block_size: int
    block_url: str
    block_headers: dict[str, str]


class Unfinished(Opened, frozen=True, kw_only=True):
    """An upload that waits for blocks."""

    state: State
    title: str
    filename: str
    size: int
    created: datetime


class Upload(Unfinished, frozen=True, kw_only=True):
    """The same with the blocks that are here, in no promised order."""

    blocks: tuple[Block, ...]


class Uploads(msgspec.Struct, frozen=True, kw_only=True):
    uploads: tuple[Unfinished, ...]


def answer(record: msgspec.Struct, status: int = 200) -> Response:
    return Response(msgspec.json.encode(record), status=status, content_type="application/json")


def video_answer(video: Video) -> VideoAnswer:
    return VideoAnswer(**_of(video))


def found_video(video: Video, hit: Hit) -> FoundVideo:
    return FoundVideo(**_of(video), title_html=hit.title_html, snippet_html=hit.snippet_html)


def _of(video: Video) -> dict[str, Any]:
    seen = view(video)
    made = {"renditions": tuple(Rendition(**each) for each in seen.renditions), "playback": _playback(seen)}
    return {
        field: made[field] if field in made else getattr(seen, field) for field in VideoAnswer.__struct_fields__
    }


def _playback(seen: VideoView) -> Playback:
    return Playback(hls=seen.hls, mp4=seen.mp4, poster=seen.poster, storyboard=seen.storyboard)
