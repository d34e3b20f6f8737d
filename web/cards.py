"""A video as pages and programs see it: cards for lists, and the whole of one with its addresses and progress."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import url_for
from markupsafe import Markup

from shared.search import Hit
from shared.videos import Privacy, State, Video
from web.access import is_listed
from web.identity import asking
from web.made import made
from web.site import services


@dataclass(frozen=True, kw_only=True)
class Card:
    """One entry of a list. `duration` in seconds; `*_html` are safe, with matches in <mark>."""

    id: str
    url: str
    title: str
    channel: str
    channel_url: str
    poster: str | None
    duration: float | None
    published: datetime | None
    created: datetime
    state: State
    privacy: Privacy
    title_html: Markup | None = None
    snippet_html: Markup | None = None


@dataclass(frozen=True, kw_only=True)
class VideoView(Card):
    """All a page shows of one video. `progress` 0 to 100; the addresses are None for what is not there (yet).

    `notes` and `lacking` are as in `Made`.
    """

    description: str
    tags: tuple[str, ...]
    actors: tuple[str, ...]
    directors: tuple[str, ...]
    language: str | None
    progress: int
    reason: str | None
    width: int | None
    height: int | None
    renditions: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    lacking: bool
    hls: str | None
    mp4: str | None
    storyboard: str | None
    filename: str
    size: int
    embed_url: str
    owner_name: str


def card(video: Video, hit: Hit | None = None) -> Card:
    return Card(
        **_entry(video),
        title_html=Markup(hit.title_html) if hit else None,  # escaped where it was made
        snippet_html=Markup(hit.snippet_html) if hit else None,  # escaped where it was made
    )


def view(video: Video) -> VideoView:
    so_far = made(video)
    return VideoView(
        **_entry(video),
        description=video.description,
        tags=video.tags,
        actors=video.actors,
        directors=video.directors,
        language=video.language,
        progress=so_far.progress,
        reason=video.reason,
        width=video.width,
        height=video.height,
        renditions=so_far.renditions,
        notes=so_far.notes,
        lacking=so_far.lacking,
        hls=_media(video, video.playback.master, "master.m3u8"),
        mp4=_media(video, video.playback.mp4, "video.mp4"),
        storyboard=_media(video, video.playback.storyboard, "storyboard.vtt"),
        filename=video.filename,
        size=video.size,
        embed_url=url_for("watch.embed", video_id=video.id),
        owner_name=video.channel,
    )


def listed(hits: Iterable[Hit]) -> list[Card]:
    """The cards of what the index found."""
    return [card(video, hit) for video, hit in found(hits)]


def found(hits: Iterable[Hit]) -> Iterator[tuple[Video, Hit]]:
    """What the index found, as the catalog has it now and as far as this person may see it: the index may be behind."""
    person = asking()
    for hit in hits:
        video = services().catalog.find(hit.video)
        if video is not None and is_listed(video, person) and video.playback.master is not None:
            yield video, hit


def _entry(video: Video) -> dict[str, Any]:
    return {
        "id": video.id,
        "url": url_for("watch.page", video_id=video.id),
        "title": video.title,
        "channel": video.channel,
        "channel_url": url_for("channel.page", name=video.channel),
        "poster": _media(video, video.playback.poster, "poster.jpg"),
        "duration": video.duration,
        "published": video.published,
        "created": video.created,
        "state": video.state,
        "privacy": video.privacy,
    }


def _media(video: Video, blob: str | None, file: str) -> str | None:
    return url_for("media.alias", video_id=video.id, file=file) if blob else None
