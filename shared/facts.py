"""What of a video's life is told to others, and what is said of it then."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from shared.topics.cloudevents import CloudEvent, Property

FACTS = {
    "uploaded": "video.uploaded", "playable": "video.playable", "published": "video.published",
    "failed": "video.failed", "edited": "video.updated", "reopened": "video.reopened", "deleted": "video.deleted",
}  # fmt: skip
"""Lines of the timeline that are facts for subscribers, and the type each has there."""

_DATA = ("id", "title", "channel", "state", "privacy", "generation", "duration", "reason")
_PROPERTIES = ("state", "privacy", "channel", "owner", "generation", "language", "duration")
"""What filters can look at; one that is not known is not there."""


def of_video(kind: str, record: Mapping[str, Any], now: datetime) -> CloudEvent:
    """`record` is the video's as it is once this has happened."""
    properties: dict[str, Property] = {name: record[name] for name in _PROPERTIES if record[name] is not None}
    data = {name: record[name] for name in _DATA}
    return CloudEvent(
        id=_new_id(record["id"]), type=kind, subject=record["id"], time=now, properties=properties, data=data
    )


def of_renditions(video: str, generation: int, part: str, names: Sequence[str], now: datetime) -> CloudEvent:
    """These renditions are there to be played."""
    properties: dict[str, Property] = {"generation": generation, "part": part}
    data = {"id": video, "part": part, "renditions": list(names)}
    return CloudEvent(
        id=_new_id(video), type="rendition.ready", subject=video, time=now, properties=properties, data=data
    )


def _new_id(video: str) -> str:
    return f"{video}-{secrets.token_hex(8)}"
