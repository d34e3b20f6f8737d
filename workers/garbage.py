"""What nobody refers to: files of lost attempts, what deleted videos left, bodies of tickets, and old keys."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from shared.blobs import Blob, every_page
from shared.errors import NotFound
from shared.people import Token
from shared.services import Services
from shared.topics.receiver import forget_received, long_received
from shared.uploads import forget_key, old_keys
from shared.videos import MEDIA, SOURCES, Playback, Video
from workers.findings import Finding
from workers.steps import ASSEMBLE, past

_ATTEMPT_FOLDER = re.compile(r"[^/]+/g(?P<generation>\d+)/(?P<part>[^/]+)/(?P<attempt>[^/]+)/")
"""As `part_prefix` makes them."""


def look_at_media(services: Services, video_id: str) -> Iterator[Finding]:
    """Folder by folder: an attempt's files live or go together, and go only once the newest is old enough."""
    video = services.catalog.find(video_id)
    for prefix, blobs in _folders(services, MEDIA, f"{video_id}/").items():
        if _old(services, blobs) and not _needed(services, video, prefix):
            yield _removal(services, MEDIA, video_id, prefix, blobs)


def look_at_sources(services: Services, video_id: str) -> Iterator[Finding]:
    if not _is_gone(services.catalog.find(video_id)):
        return
    for prefix, blobs in _folders(services, SOURCES, f"{video_id}/").items():
        if _old(services, blobs):
            yield _removal(services, SOURCES, video_id, prefix, blobs)


def look_at_blocks(services: Services) -> Iterator[Finding]:
    """Staged blocks of videos that are gone; those of a living upload are its own to keep or give up."""
    for name, last in list(services.blobs.list_uncommitted(SOURCES)):
        video_id = name.partition("/")[0]
        if _is_aged(services, last) and _is_gone(services.catalog.find(video_id)):
            mend = partial(services.blobs.discard_uncommitted, SOURCES, name)
            yield Finding(what="drop the blocks", about=name, mend=mend)


def look_at_poison(services: Services) -> Iterator[Finding]:
    for body in services.poison.left_behind():
        if _is_aged(services, body.last_modified):
            mend = partial(services.poison.forget_body, body)
            yield Finding(what="remove the body of a ticket", about=body.name, mend=mend)


def look_at_keys(services: Services) -> Iterator[Finding]:
    for key in old_keys(services):
        mend = partial(forget_key, services, key)
        yield Finding(what="forget the upload key", about=f"{key.partition}/{key.row[:12]}", mend=mend)


def look_at_tokens(services: Services) -> Iterator[Finding]:
    for token in list(services.people.expired_tokens()):
        yield Finding(what="forget the expired token", about=token.id, mend=partial(_forget_token, services, token))


def look_at_subscriptions(services: Services) -> Iterator[Finding]:
    """What waits for its receiver though its ticket was lost, and notes of events nobody sends any more."""
    for subscription in services.subscriptions.all():
        waits = services.queues.depth(subscription.queue).messages
        if subscription.kind != "pull" and not subscription.disabled and waits:
            mend = partial(services.deliver, subscription.name)
            yield Finding(what="deliver what waits", about=subscription.name, mend=mend)
    for note in list(long_received(services.tables, services.clock)):
        mend = partial(forget_received, services.tables, note)
        yield Finding(what="forget a delivered event", about=note.row, mend=mend)


def _forget_token(services: Services, token: Token) -> None:
    with suppress(NotFound):  # another sweep was here
        services.people.revoke_token(token.person, token.id)


def _removal(services: Services, container: str, video_id: str, prefix: str, blobs: Sequence[Blob]) -> Finding:
    """Looked at once more before it is done: nothing referenced is ever removed."""

    def mend() -> None:
        video = services.catalog.find(video_id)
        wanted = _needed(services, video, prefix) if container == MEDIA else not _is_gone(video)
        if not wanted:
            _delete(services, container, [blob.name for blob in blobs])

    return Finding(what="remove the files", about=f"{container}/{prefix}", mend=mend)


def _needed(services: Services, video: Video | None, prefix: str) -> bool:
    """Whether the attempt folder is referred to, or may still become so.

    While a part is not recorded, any attempt at it may yet win, even one that is frozen: its files stay.
    """
    if video is None or _is_gone(video):
        return False
    if any(name and name.startswith(prefix) for name in _names(video.playback)):
        return True
    folder = _ATTEMPT_FOLDER.fullmatch(prefix)
    if folder is None:
        return True
    generation, part_name, attempt = int(folder["generation"]), folder["part"], folder["attempt"]
    if part_name == ASSEMBLE or generation not in (video.generation, video.playback.generation):
        return False
    part = services.catalog.parts(video.id, generation).get(part_name)
    return part.attempt == attempt if part is not None else not past(video, generation)


def _names(playback: Playback) -> list[str | None]:
    return [playback.master, playback.mp4, playback.poster, playback.storyboard]


def _folders(services: Services, container: str, prefix: str) -> dict[str, list[Blob]]:
    """The blobs of a video by their folder (`<video>/g<n>/<part>/<attempt>/` in MEDIA)."""
    folders: dict[str, list[Blob]] = defaultdict(list)
    for page in every_page(services.blobs, container, prefix=prefix):
        for blob in page.blobs:
            folders[_folder(container, blob.name)].append(blob)
    return folders


def _folder(container: str, name: str) -> str:
    return "/".join(name.split("/")[:4]) + "/" if container == MEDIA else name


def _is_gone(video: Video | None) -> bool:
    return video is None or video.state == "deleted"


def _old(services: Services, blobs: Sequence[Blob]) -> bool:
    return _is_aged(services, max(blob.last_modified for blob in blobs))


def _is_aged(services: Services, moment: datetime) -> bool:
    return services.clock.now() - moment >= timedelta(seconds=services.settings.garbage_after)


def _delete(services: Services, container: str, names: Sequence[str]) -> None:
    for name in names:
        try:
            services.blobs.delete(container, name)
        except NotFound:  # another sweep was here
            continue
