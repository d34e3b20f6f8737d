"""Short ways to make videos, plans, parts and tickets; a test spells out only what it is about."""

from typing import Any

from shared.services import Services
from shared.tickets import Encode, Ingest, decode
from shared.videos import MEDIA, Part, PartPlan, Plan, Video, new_video_id, part_prefix, source_name


def a_video(services: Services, *, source: bytes | None = None, **fields: Any) -> Video:
    """Entered in the catalog, queued unless said otherwise, its source in place if given."""
    video_id = fields.pop("id", None) or new_video_id()
    given: dict[str, Any] = {
        "owner": "anna", "channel": "anna", "title": "A day out", "state": "queued",
        "source": source_name(video_id, 1), "created": services.clock.now(), **fields,
    }
    video = services.catalog.add(Video(id=video_id, **given), event="opened")
    if source is not None:
        services.blobs.put("sources", video.source, source)
    return video


def a_plan(*parts: PartPlan, first: tuple[str, ...] = ("first",)) -> Plan:
    """Unless parts are given: first (fast), ladder, pictures and an mp4 that needs first and ladder."""
    usual = (
        PartPlan(name="ladder", kind="encode"),
        PartPlan(name="first", kind="encode", fast=True),
        PartPlan(name="pictures", kind="pictures", vital=False, gives="its poster"),
        PartPlan(name="mp4", kind="package", needs=("first", "ladder"), vital=False),
    )
    return Plan(recipe=1, duration=2.0, width=320, height=180, parts=parts or usual, first=first)


def a_rendition(label: str = "180p") -> dict[str, Any]:
    return {
        "name": label, "label": label, "kind": "video", "playlist": f"{label}.m3u8", "width": 320, "height": 180,
        "frame_rate": 25.0, "codecs": "avc1.64000d", "bandwidth": 200_000, "average_bandwidth": 150_000,
    }


RESULTS: dict[str, dict[str, Any]] = {
    "first": {"renditions": [a_rendition("180p")]},
    "ladder": {"renditions": [a_rendition("360p")]},
    "pictures": {"poster": "poster.jpg", "storyboard": "storyboard.vtt"},
    "mp4": {"mp4": "video.mp4", "size": 10},
}


def processing(services: Services, *finished: str, plan: Plan | None = None, **fields: Any) -> Video:
    """A video in the middle: its plan recorded and the named parts finished, blobs and all."""
    video = a_video(services, **{"state": "processing", **fields})
    services.catalog.record_plan(video.id, video.generation, plan or a_plan())
    for name in finished:
        finish_part(services, video, name)
    return video


def finish_part(services: Services, video: Video, name: str, attempt: str = "aaaa0000") -> Part:
    put_file(services, video, name, attempt)
    part = Part(name=name, attempt=attempt, result=RESULTS.get(name, {}))
    return services.catalog.record_part(video.id, video.generation, part)


def put_file(services: Services, video: Video, part: str, attempt: str, file: str = "file.m4s") -> str:
    name = part_prefix(video.id, video.generation, part, attempt) + file
    services.blobs.put(MEDIA, name, b"media")
    return name


def an_ingest(services: Services, video: Video | None = None, **fields: Any) -> Ingest:
    given = {"video": video.id if video else new_video_id(), "generation": 1, "made": services.clock.now(), **fields}
    return Ingest(**given)


def an_encode(services: Services, video: Video, part: str = "first", **fields: Any) -> Encode:
    given = {"generation": video.generation, "made": services.clock.now(), "part": part, "fast": True, **fields}
    return Encode(video=video.id, **given)


def waiting(services: Services, queue: str) -> int:
    """Messages in a queue, hidden ones included."""
    return services.queues.depth(queue).messages


def sent(services: Services, queue: str) -> list[str]:
    """Kinds and parts of the visible tickets of a queue, such as "encode ladder", without taking them."""
    tickets = [decode(message.body) for message in services.queues.peek(queue, count=32)]
    return sorted(" ".join(filter(None, (ticket.kind, getattr(ticket, "part", "")))) for ticket in tickets)


def media_names(services: Services) -> list[str]:
    return [blob.name for blob in services.blobs.list_blobs(MEDIA).blobs]


def tell_all(services: Services, video: Video) -> None:
    """As when its facts were announced."""
    for event in list(services.untold.facts(video.id)):
        services.untold.cross_off(event)
