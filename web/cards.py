"""A video as pages and programs see it: cards for lists, and the whole of one with its addresses and progress."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import url_for
from markupsafe import Markup

from shared.errors import NotFound
from shared.search import Hit
from shared.videos import Part, Privacy, State, Video, fraction_done
from web.access import is_listed
from web.identity import asking
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
    """All a page shows of one video. `progress` 0 to 100; the addresses are None for what is not there (yet)."""

    description: str
    tags: tuple[str, ...]
    actors: tuple[str, ...]
    directors: tuple[str, ...]
    language: str | None
    progress: int
    reason: str | None
    width: int | None
    height: int | None
    renditions: list[dict[str, Any]]
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
    progress, renditions = _made(video)
    return VideoView(
        **_entry(video),
        description=video.description,
        tags=video.tags,
        actors=video.actors,
        directors=video.directors,
        language=video.language,
        progress=progress,
        reason=video.reason,
        width=video.width,
        height=video.height,
        renditions=renditions,
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
        try:
            video = services().catalog.get(hit.video)
        except NotFound:
            continue
        if is_listed(video, person) and video.playback.master is not None:
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


def _made(video: Video) -> tuple[int, list[dict[str, Any]]]:
    """How far it is, 0 to 100, and what can be played."""
    if video.state in ("uploading", "queued", "deleted"):
        return 0, []
    catalog = services().catalog
    parts = catalog.parts(video.id, video.generation)
    renditions = _renditions(parts.values())
    if video.state == "published":
        return 100, renditions
    try:
        plan = catalog.plan(video.id, video.generation)
    except NotFound:
        return 0, renditions
    done = fraction_done(plan, parts, catalog.progress(video.id, video.generation))
    return min(99, int(done * 100)), renditions


def _renditions(parts: Iterable[Part]) -> list[dict[str, Any]]:
    found = [
        {"label": rendition["label"], "width": rendition["width"], "height": rendition["height"]}
        for part in parts
        for rendition in part.result.get("renditions", [])
        if rendition["kind"] == "video"
    ]
    return sorted(found, key=lambda rendition: -int(rendition["width"]) * int(rendition["height"]))
