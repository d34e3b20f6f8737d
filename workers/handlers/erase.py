"""Remove the blobs of a deleted video: its media, its sources, and the blocks of an upload given up."""

from shared.errors import NotFound
from shared.services import Services
from shared.tickets import Erase
from shared.videos import MEDIA, SOURCES
from workers.attempt import Attempt
from workers.parts import blob_names
from workers.steps import rest_if_done

DEADLINE = 3600.0
"""Seconds; a day of video is tens of thousands of segments."""


def handle(ticket: Erase, services: Services, attempt: Attempt) -> None:
    """The record stays as a tombstone, so that what a slow worker still writes can be told and swept."""
    video = services.catalog.find(ticket.video)
    if video is None or video.state != "deleted":
        return
    prefix = f"{video.id}/"
    for container in (MEDIA, SOURCES):
        for name in blob_names(services, container, prefix):
            attempt.check()
            _delete(services, container, name)
    for name, _ in list(services.blobs.list_uncommitted(SOURCES, prefix=prefix)):
        services.blobs.discard_uncommitted(SOURCES, name)
    rest_if_done(services, video.id)


def _delete(services: Services, container: str, name: str) -> None:
    try:
        services.blobs.delete(container, name)
    except NotFound:  # another erase, or the sweep, was here
        return
