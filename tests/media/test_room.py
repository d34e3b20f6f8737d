"""A disk that is full, or was for a while, is never the owner's fault, and what comes out of it is never published."""

from collections import namedtuple
from dataclasses import replace

import pytest

from shared.errors import Full, Permanent
from shared.settings import Settings
from workers.media import room as rooms
from workers.media.encode import encode_part
from workers.media.package import package
from workers.media.pictures import make_pictures
from workers.media.plan import make_plan
from workers.media.probe import probe

Usage = namedtuple("Usage", "total used free")
PLENTY = 10**12


@pytest.fixture
def free(monkeypatch):
    """Say how much is free at each look, the last one from then on."""

    def free(*amounts: int) -> None:
        left = list(amounts)
        usage = lambda _: Usage(PLENTY, 0, left.pop(0) if len(left) > 1 else left[0])  # noqa: E731
        monkeypatch.setattr(rooms.shutil, "disk_usage", usage)

    return free


@pytest.fixture
def first(served, a_clip, work):
    """The address of a clip and its first part."""
    url = served(a_clip("faststart"))
    return url, make_plan(probe(url, work)).part("first")


@pytest.fixture
def broken(a_clip, served):
    """The same clip without anything that decodes."""
    content = bytearray(a_clip("faststart").read_bytes())
    start = content.find(b"mdat") + 4
    content[start:] = b"\xff" * (len(content) - start)
    return served(bytes(content))


def test_nothing_came_out_while_the_disk_was_full_for_a_moment(broken, first, free, work, tmp_path):
    free(PLENTY, 1000, PLENTY)
    with pytest.raises(Full):
        encode_part(broken, first[1], tmp_path, work)


def test_nothing_came_out_though_there_was_room_all_the_time(broken, first, free, work, tmp_path):
    free(PLENTY)
    with pytest.raises(Permanent):
        encode_part(broken, first[1], tmp_path, work)


def test_a_part_that_came_out_short_for_want_of_room_is_not_published_with_a_note(served, a_clip, first, free, work, tmp_path):
    whole = a_clip("faststart").read_bytes()
    free(PLENTY, 1000, PLENTY)
    with pytest.raises(Full):
        encode_part(served(whole[: len(whole) * 6 // 10]), first[1], tmp_path, work)


def test_what_was_written_below_the_margin_but_with_room_is_good(first, free, work, tmp_path):
    free(work.settings.min_free - 1)
    assert encode_part(*first, tmp_path, work)["renditions"]


def test_what_was_written_with_no_room_at_all_is_not_trusted(first, free, work, tmp_path):
    free(PLENTY, 1000, PLENTY)
    with pytest.raises(Full):
        encode_part(*first, tmp_path, replace(work, settings=Settings(min_free=0)))


def test_pictures_and_the_joined_file_are_held_to_the_same(made, served, first, free, work, tmp_path):
    out = made("faststart", only=("first",))
    whole = served(out.whole(out.video["name"]))
    free(1000)
    with pytest.raises(Full):
        package([whole], tmp_path, work, duration=1000.0)
    with pytest.raises(Full):
        make_pictures(out.url, made("sound").plan.part("pictures"), tmp_path, work, base="")
