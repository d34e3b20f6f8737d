"""Which rungs a source gets, and which parts."""

from fractions import Fraction

import pytest

from workers.media.plan import frame_rate, ladder, make_plan
from workers.media.probe import AudioStream, Probe, VideoStream


def a_video(width: int, height: int, rate: int = 25) -> VideoStream:
    return VideoStream(index=0, codec="h264", width=width, height=height, rate=(rate, 1))


def sizes(video: VideoStream) -> list[tuple[str, int, int]]:
    return [(rung.label, rung.width, rung.height) for rung in ladder(video)]


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [
        (1920, 1080, ["1080p", "720p", "480p", "360p", "240p", "144p"]),
        (1920, 816, ["1080p", "720p", "480p", "360p", "240p", "144p"]),
        (1080, 1920, ["1080p", "720p", "480p", "360p", "240p", "144p"]),
        (1165, 767, ["720p", "480p", "360p", "240p", "144p"]),
        (640, 360, ["360p", "240p", "144p"]),
        (64, 36, ["36p"]),
        (3840, 2160, ["2160p", "1440p", "1080p", "720p", "480p", "360p", "240p", "144p"]),
        (4097, 3, ["2160p"]),
        (3, 4097, ["2160p"]),
        (3840, 200, ["2160p", "1440p", "1080p", "720p"]),
        (1920, 540, ["1080p", "720p", "480p", "360p", "240p", "144p"]),
        (1, 1, ["1p"]),
        (7680, 4320, ["2160p", "1440p", "1080p", "720p", "480p", "360p", "240p", "144p"]),
    ],
)
def test_rungs_are_named_by_their_16_to_9_box(width, height, expected):
    assert [rung.label for rung in ladder(a_video(width, height))] == expected


@pytest.mark.parametrize(("width", "height"), [(1165, 767), (321, 181), (1919, 1079), (853, 480), (33, 77), (4097, 3), (5, 3000)])
def test_no_rung_is_odd_or_above_the_source(width, height):
    for rung in ladder(a_video(width, height)):
        assert rung.width % 2 == rung.height % 2 == 0
        assert rung.width <= width
        assert rung.height <= height


def test_portrait_rungs_are_portrait():
    assert sizes(a_video(1080, 1920))[1] == ("720p", 720, 1280)


@pytest.mark.parametrize(
    ("source", "height", "expected"),
    [
        ((24000, 1001), 1080, Fraction(24000, 1001)),
        ((2997, 100), 1080, Fraction(30000, 1001)),
        ((60, 1), 1080, Fraction(60)),
        ((60, 1), 480, Fraction(30)),
        ((240, 1), 1080, Fraction(60)),
        ((1, 10), 360, Fraction(5)),
        ((33, 1), 1080, Fraction(33)),
        ((12, 1), 1080, Fraction(12)),
    ],
)
def test_the_rate_is_constant_snapped_and_capped(source, height, expected):
    assert frame_rate(source, height) == expected


def test_a_video_is_playable_by_its_lowest_useful_rung_and_its_sound():
    probe = Probe(format="mov", duration=10, video=a_video(1920, 1080), audio=AudioStream(index=1, codec="aac", channels=2))
    plan = make_plan(probe)
    assert plan.first == ("first", "audio")
    assert [rung["label"] for rung in plan.part("first").detail["rungs"]] == ["360p"]
    assert {part.name for part in plan.parts} == {"first", "audio", "ladder", "pictures", "mp4"}
    assert plan.part("mp4").needs == ("ladder", "audio")
    assert not plan.part("pictures").vital
    assert plan.part("first").fast


def test_every_part_says_what_its_owner_lacks_without_it():
    probe = Probe(format="mov", duration=10, video=a_video(1280, 720), audio=AudioStream(index=1, codec="aac", channels=2))
    assert {part.name: part.gives for part in make_plan(probe).parts} == {
        "first": "its quality 360p", "ladder": "its qualities 720p, 480p, 240p, 144p", "audio": "its sound",
        "pictures": "its poster and the small pictures along its timeline", "mp4": "its file to download",
    }  # fmt: skip


def test_without_sound_there_is_no_audio_part():
    plan = make_plan(Probe(format="mov", duration=10, video=a_video(640, 360), audio=None))
    assert plan.first == ("first",)
    assert "audio" not in {part.name for part in plan.parts}


def test_a_sound_alone_is_an_audio_item():
    plan = make_plan(Probe(format="mp3", duration=10, video=None, audio=AudioStream(index=0, codec="mp3", channels=2)))
    assert plan.first == ("audio",)
    assert {part.name for part in plan.parts} == {"audio", "pictures", "mp4"}


def test_the_same_look_gives_the_same_plan():
    probe = Probe(format="mov", duration=10, video=a_video(1920, 1080), audio=None)
    assert make_plan(probe) == make_plan(probe)
