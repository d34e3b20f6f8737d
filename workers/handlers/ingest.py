"""Probe the source, decide the plan, and send its first parts, the fast lane first."""

import msgspec

from shared.services import Services
from shared.tickets import Ingest
from shared.videos import SOURCES, Plan, Video
from workers.attempt import Attempt
from workers.media import source
from workers.media.ffmpeg import Work
from workers.media.plan import make_plan
from workers.media.probe import probe
from workers.steps import past, send_next

DEADLINE = 900.0
"""Seconds; a file of a day is looked through in a fraction of that."""


def handle(ticket: Ingest, services: Services, attempt: Attempt) -> None:
    video = services.catalog.find(ticket.video)
    if video is None or past(video, ticket.generation) or video.state == "uploading":
        return
    plan = services.catalog.find_plan(video) or _decide(video, services, attempt)
    services.catalog.change(video.id, lambda now: _processing(now, plan, ticket.generation), event="processing")
    send_next(services, video.id, traceparent=ticket.traceparent)


def _decide(video: Video, services: Services, attempt: Attempt) -> Plan:
    with source.serve(services.blobs, SOURCES, video.source) as url:
        found = probe(url, Work(settings=services.settings, stopped=attempt.stopped, spent=attempt.spend))
    attempt.check()
    return services.catalog.record_plan(video.id, video.generation, make_plan(found))


def _processing(video: Video, plan: Plan, generation: int) -> Video | None:
    if video.state != "queued" or video.generation != generation:
        return None
    return msgspec.structs.replace(
        video, state="processing", duration=plan.duration, width=plan.width or None, height=plan.height or None
    )
