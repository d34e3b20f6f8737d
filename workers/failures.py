"""What becomes of a video when work on it is given up: a sentence for its owner, and the rest goes on where it can."""

import msgspec
import structlog

from shared.services import Services
from shared.tickets import Assemble, Ingest, PartTicket, Ticket, VideoTicket
from shared.videos import TERMINAL, Part, Video
from workers.steps import ASSEMBLE, send_next

TRIED_ENOUGH = (
    "Something went wrong on our side while this video was processed. We tried several times and have kept a note "
    "for the operators; you can try again later."
)
NOT_MADE = "-"
"""The attempt of a part that was given up: no folder has this name."""


def give_up(services: Services, ticket: Ticket, sentence: str) -> None:
    """Record that this ticket will never succeed. Safe to repeat; raises the stores' named failures.

    A part is recorded as failed and the plan decides what that means; without ingest or assemble there is no video;
    a ticket of another kind leaves only its line in the timeline.
    """
    if not isinstance(ticket, VideoTicket):
        return
    video = services.catalog.find(ticket.video)
    if video is None or video.generation != ticket.generation:
        return
    if isinstance(ticket, PartTicket):
        _give_up_part(services, ticket, video, sentence)
    elif isinstance(ticket, Ingest | Assemble):
        fail(services, ticket, sentence)
    else:
        services.catalog.add_event(ticket.video, f"{ticket.kind} given up", sentence)


def fail(services: Services, ticket: VideoTicket, sentence: str) -> None:
    """The whole video failed, unless its state was final before; the index is told."""
    structlog.get_logger().warning("video failed", video=ticket.video, reason=sentence)
    trace = ticket.traceparent
    services.catalog.change(ticket.video, lambda video: _failed(video, sentence), event="failed", traceparent=trace)
    send_next(services, ticket.video, traceparent=ticket.traceparent, after=ASSEMBLE)


def _failed(video: Video, sentence: str) -> Video | None:
    if video.state in TERMINAL:
        return None
    return msgspec.structs.replace(video, state="failed", reason=sentence, revision=video.revision + 1)


def _give_up_part(services: Services, ticket: PartTicket, video: Video, sentence: str) -> None:
    plan = services.catalog.find_plan(video)
    if plan is None or video.state in TERMINAL:
        return
    structlog.get_logger().warning("part given up", video=video.id, part=ticket.part, reason=sentence)
    part = Part(name=ticket.part, attempt=NOT_MADE, failed=sentence)
    recorded = services.catalog.record_part(video.id, video.generation, part)
    if recorded.failed is not None and plan.part(ticket.part).vital:
        fail(services, ticket, sentence)
    else:
        send_next(services, video.id, traceparent=ticket.traceparent, after=ticket.part)
