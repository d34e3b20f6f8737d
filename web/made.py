"""What has become of a video so far: how far it is, the qualities there are, and what its owner should know."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from shared.notes import owner_notes
from shared.videos import Part, Plan, Video, fraction_done
from web.access import may_change
from web.identity import asking
from web.site import services


@dataclass(frozen=True, kw_only=True)
class Made:
    """`progress` 0 to 100. `notes`, and `lacking` (a part was given up), are for those alone who may change it."""

    progress: int = 0
    renditions: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    lacking: bool = False


def made(video: Video) -> Made:
    if video.state in ("uploading", "queued", "deleted"):
        return Made()
    parts = services().catalog.parts(video.id, video.generation)
    told = may_change(video, asking())
    plan = services().catalog.find_plan(video) if told or video.state != "published" else None
    return Made(
        progress=_progress(video, plan, parts),
        renditions=_renditions(parts.values()),
        notes=owner_notes(video, plan, parts) if told else (),
        lacking=told and any(part.failed is not None for part in parts.values()),
    )


def _progress(video: Video, plan: Plan | None, parts: Mapping[str, Part]) -> int:
    if video.state == "published":
        return 100
    if plan is None:
        return 0
    done = fraction_done(plan, parts, services().catalog.progress(video.id, video.generation))
    return min(99, int(done * 100))


def _renditions(parts: Iterable[Part]) -> tuple[dict[str, Any], ...]:
    """The best first."""
    found = [
        {"label": rendition["label"], "width": rendition["width"], "height": rendition["height"]}
        for part in parts
        for rendition in part.result.get("renditions", [])
        if rendition["kind"] == "video"
    ]
    return tuple(sorted(found, key=lambda rendition: -int(rendition["width"]) * int(rendition["height"])))
