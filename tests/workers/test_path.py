"""One real clip through every handler, worked by a real listener."""

import re

import pytest

from shared.services import Services
from shared.tickets import QUEUES
from shared.videos import MEDIA, Video
from tests.workers.clips import a_clip
from tests.workers.clock import HandClock
from tests.workers.making import a_video, an_ingest, media_names, waiting
from workers.handlers.table import find_handlers
from workers.lease import LeaseKeeper
from workers.listener import Listener, Look
from workers.scratch import Scratch
from workers.sweep import sweep
from workers.turns import Turns


def work_all(services: Services, scratch: Scratch) -> None:
    """Until no queue has anything to give."""
    queues = dict.fromkeys(QUEUES, 1)
    listener = Listener(services, queues, find_handlers(), keeper=LeaseKeeper(), scratch=scratch)
    turns = Turns(queues)
    while listener.step(turns) is Look.WORK:
        pass


def the_files_of(services: Services, playlist: str) -> set[str]:
    """The blobs a media playlist names, itself included."""
    text = services.blobs.get(MEDIA, playlist).decode()
    names = re.findall(r'URI="([^"]+)"', text) + [line for line in text.split("\n") if line and line[0] != "#"]
    return {playlist, *(playlist.rpartition("/")[0] + "/" + name for name in names)}


def the_files_published(services: Services, video: Video) -> set[str]:
    """Every blob a player may ask for, found as a player finds it."""
    playback = video.playback
    master = services.blobs.get(MEDIA, playback.master or "").decode()
    lists = re.findall(r'URI="([^"]+)"', master) + [line for line in master.split("\n") if line and line[0] != "#"]
    board = services.blobs.get(MEDIA, playback.storyboard or "").decode()
    sheets = {f"{video.id}/{name}" for name in re.findall(r"^(\S+)#xywh", board, re.MULTILINE)}
    segments = set().union(*(the_files_of(services, f"{video.id}/{name}") for name in lists))
    named = {playback.master, playback.mp4, playback.poster, playback.storyboard}
    return {name for name in named if name} | segments | sheets


@pytest.mark.parametrize("sound", [True, False])
def test_a_clip_becomes_a_published_video_with_exactly_the_files_it_needs(
    services: Services, scratch: Scratch, clock: HandClock, sound: bool
) -> None:
    video = a_video(services, source=a_clip(sound=sound))
    services.tickets.send(an_ingest(services, video))
    work_all(services, scratch)
    now = services.catalog.get(video.id)
    assert (now.state, now.width, now.height) == ("published", 320, 180)
    assert now.duration == pytest.approx(1.0, abs=0.1)
    clock.forward(services.settings.garbage_after)
    sweep(services)
    assert set(media_names(services)) == the_files_published(services, now)
    assert all(waiting(services, queue) == 0 for queue in QUEUES)
    assert list(services.poison.list()) == []
    assert list(scratch.folder.iterdir()) == []


def test_what_is_no_video_ends_as_failed_with_a_sentence(services: Services, scratch: Scratch) -> None:
    video = a_video(services, source=b"<!doctype html><p>502 Bad Gateway")
    services.tickets.send(an_ingest(services, video))
    work_all(services, scratch)
    now = services.catalog.get(video.id)
    assert now.state == "failed"
    assert "web page" in (now.reason or "")
    assert waiting(services, "ingest") == 0
