"""Work on a video that was given up goes on again, by an operator's replay or the owner's retry."""

import msgspec

from shared.videos import Catalog, State, Video, whole


def reopen(catalog: Catalog, video_id: str) -> bool:
    """Returns whether there was work given up.

    What finished stays; parts given up are forgotten. A failed video, or a published one that lacks a part, is then
    open for work again; any other is left alone. The caller sends the ticket that goes on, after this.

    The record goes before the parts: cut short there, the video ends as it was, to be tried again, and never as
    published for good with a part that nobody makes.
    """
    video = catalog.find(video_id)
    if video is None or not _gave_up(catalog, video):
        return False
    catalog.mark_active(video_id)
    catalog.change(video_id, _reopened, event="reopened")
    catalog.forget_given_up(video_id, video.generation)
    catalog.change(video_id, _reopened, event="reopened")  # the parts, while they stood, may have ended it once more
    return True


def _gave_up(catalog: Catalog, video: Video) -> bool:
    if video.state in ("failed", "deleted"):
        return video.state == "failed"
    parts = catalog.parts(video.id, video.generation)
    if any(part.failed is not None for part in parts.values()):
        return True
    plan = catalog.find_plan(video)
    return video.state == "published" and plan is not None and not whole(plan, parts)


def _reopened(video: Video) -> Video | None:
    if video.state not in ("failed", "published"):
        return None
    return msgspec.structs.replace(video, state=_state_before(video), reason=None, revision=video.revision + 1)


def _state_before(video: Video) -> State:
    if video.playback.master is not None and video.playback.generation == video.generation:
        return "playable"
    return "queued" if video.duration is None else "processing"
