"""What a video needs now: the one function every handler asks for its next tickets, and the sweep for the lost ones."""

from collections.abc import Mapping
from datetime import datetime

from shared.services import Services
from shared.tickets import PART_KINDS, Announce, Assemble, Erase, Index, Ingest, Ticket
from shared.videos import TERMINAL, Part, PartPlan, Plan, Video, first_ready, missing_parts, whole

ASSEMBLE = "assemble"


def past(video: Video, generation: int) -> bool:
    """Whether no work on this generation can matter any more."""
    return video.generation != generation or video.state in TERMINAL


def next_tickets(
    video: Video,
    plan: Plan | None,
    parts: Mapping[str, Part],
    *,
    made: datetime,
    traceparent: str | None = None,
    after: str | None = None,
) -> list[Ticket]:
    """The tickets owed to a video now, the most urgent first; none while it is uploading or when all is done.

    `after` names the step just finished, a part or ASSEMBLE: only what that step allows is owed then, since the rest
    is on its way already.
    """
    new = _Maker(video, made, traceparent)
    owed: list[Ticket] = []
    if video.state == "deleted":
        owed.append(new.erase())
    elif video.state == "queued" or (plan is None and video.state == "processing"):
        owed.append(new.ingest())
    elif video.state not in TERMINAL and plan is not None:
        owed += [new.part(part) for part in _workable(plan, parts, after)]
        owed += [new.assemble()] if can_assemble(video, plan, parts) else []
    if after in (None, ASSEMBLE) and video.state in TERMINAL | {"playable"} and video.indexed < video.revision:
        owed.append(new.index())
    return owed


def can_assemble(video: Video, plan: Plan, parts: Mapping[str, Part]) -> bool:
    """Whether the finished parts allow more than what is published, or have failed for good."""
    if lost_part(plan, parts) is not None or whole(plan, parts):
        return True
    return first_ready(plan, parts) and not succeeded(parts) <= assembled(video)


def lost_part(plan: Plan, parts: Mapping[str, Part]) -> Part | None:
    """The vital part that was given up, if one was."""
    vital = [parts[part.name] for part in plan.parts if part.vital and part.name in parts]
    return next((part for part in vital if part.failed is not None), None)


def succeeded(parts: Mapping[str, Part]) -> set[str]:
    return {name for name, part in parts.items() if part.failed is None}


def assembled(video: Video) -> set[str]:
    """The parts in what is published of this generation."""
    return set(video.playback.parts) if video.playback.generation == video.generation else set()


def send_next(services: Services, video_id: str, *, traceparent: str | None = None, after: str | None = None) -> None:
    """Send what the catalog, read afresh, says the video needs now."""
    video = services.catalog.find(video_id)
    if video is None:
        return
    tickets = next_tickets(
        video,
        services.catalog.find_plan(video),
        services.catalog.parts(video.id, video.generation),
        made=services.clock.now(),
        traceparent=traceparent,
        after=after,
    )
    if after is None and services.untold.has_any(video_id):
        tickets.append(
            Announce(video=video_id, generation=video.generation, made=services.clock.now(), traceparent=traceparent)
        )
    services.tickets.send_all(tickets)


def rest_if_done(services: Services, video_id: str) -> bool:
    """Take a video off the active list if nothing is owed to it: its state is final, the index and the topic know it.

    Looked at again afterwards: an edit in between marked it active before, and must not be forgotten.
    """
    if not _is_done(services, services.catalog.get(video_id)):
        return False
    services.catalog.mark_idle(video_id)
    if not _is_done(services, services.catalog.get(video_id)):
        services.catalog.mark_active(video_id)
        return False
    return True


def _is_done(services: Services, video: Video) -> bool:
    known = video.state in TERMINAL and video.indexed >= video.revision
    return known and not services.untold.has_any(video.id)


def _workable(plan: Plan, parts: Mapping[str, Part], after: str | None) -> list[PartPlan]:
    if lost_part(plan, parts) is not None:
        return []
    workable = [part for part in missing_parts(plan, parts) if after is None or after in part.needs]
    return sorted(workable, key=lambda part: not part.fast)


class _Maker:
    """Makes tickets about one video."""

    def __init__(self, video: Video, made: datetime, traceparent: str | None) -> None:
        self._video = video
        self._made = made
        self._trace = traceparent

    def part(self, part: PartPlan) -> Ticket:
        return PART_KINDS[part.kind](
            video=self._video.id, generation=self._video.generation, made=self._made, traceparent=self._trace,
            part=part.name, priority=part.priority, fast=part.fast,
        )

    def ingest(self) -> Ticket:
        return self._make(Ingest)

    def assemble(self) -> Ticket:
        return self._make(Assemble)

    def index(self) -> Ticket:
        return self._make(Index)

    def erase(self) -> Ticket:
        return self._make(Erase)

    def _make(self, kind: type[Ingest | Assemble | Index | Erase]) -> Ticket:
        return kind(
            video=self._video.id, generation=self._video.generation, made=self._made, traceparent=self._trace
        )
