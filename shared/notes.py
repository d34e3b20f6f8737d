"""What the owner should know of a video that plays all the same: what was changed, left out, cut short or given up."""

from collections.abc import Mapping

from shared.videos import Part, PartPlan, Plan, Video


def owner_notes(video: Video, plan: Plan | None, parts: Mapping[str, Part]) -> tuple[str, ...]:
    """The notes on its generation, each once: those of the plan, then of its finished parts in order.

    A part given up is among them, unless its reason is why the whole video failed: that is told already.
    """
    if plan is None:
        return ()
    found = list(plan.notes)
    for planned in plan.parts:
        part = parts.get(planned.name)
        if part is not None and (part.failed is None or part.failed != video.reason):
            found += _told(planned, part)
    return tuple(dict.fromkeys(found))


def _told(planned: PartPlan, part: Part) -> list[str]:
    if part.failed is None:
        return list(part.result.get("notes", ()))
    return [f"{planned.gives} could not be made: {part.failed}" if planned.gives else part.failed]
