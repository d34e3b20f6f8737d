"""Posters are never black or missing; storyboards point into their sheets."""

import re

import pytest

from tests.media.clips import ffmpeg
from tests.media.conftest import described
from workers.media.pictures import MAX_TILES, make_pictures
from workers.media.plan import make_plan
from workers.media.probe import probe


@pytest.fixture
def pictures(served, a_clip, work, tmp_path):
    def make(clip):
        url = served(a_clip(clip) if isinstance(clip, str) else clip)
        folder = tmp_path / "pictures"
        folder.mkdir()
        part = make_plan(probe(url, work)).part("pictures")
        return make_pictures(url, part, folder, work, base="g1/pictures/aa/"), folder

    return make


@pytest.mark.parametrize(("clip", "width", "height"), [("large", 1280, 720), ("portrait", 360, 640), ("one_frame", 320, 180)])
def test_a_poster_is_there_in_the_shape_of_the_video(pictures, clip, width, height):
    _, folder = pictures(clip)
    [stream] = described(folder / "poster.jpg")["streams"]
    assert (stream["width"], stream["height"]) == (width, height)


def test_a_poster_is_not_the_black_the_film_opens_with(pictures, tmp_path):
    film = tmp_path / "film.mp4"
    ffmpeg("-f", "lavfi", "-i", "color=black:s=320x180:r=25:d=3", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=3",
           "-filter_complex", "concat=n=2", "-c:v", "libx264", "-pix_fmt", "yuv420p", str(film))
    _, folder = pictures(film)
    raw = ffmpeg("-i", str(folder / "poster.jpg"), "-vf", "scale=1:1:flags=area", "-pix_fmt", "gray", "-f", "rawvideo", "-")
    assert raw[0] > 60


def test_a_storyboard_covers_the_video_with_tiles_inside_its_sheets(pictures):
    made, folder = pictures("large")
    text = (folder / made["storyboard"]).read_text()
    cues = re.findall(r"(\S+) --> (\S+)\ng1/pictures/aa/(sheet-\d+\.jpg)#xywh=(\d+),(\d+),(\d+),(\d+)", text)
    assert cues[0][0] == "00:00:00.000"
    assert len(cues) == 5
    [sheet] = described(folder / cues[0][2])["streams"]
    for *_, x, y, width, height in cues:
        assert int(x) + int(width) <= sheet["width"]
        assert int(y) + int(height) <= sheet["height"]


def test_a_long_video_has_a_bounded_number_of_tiles(pictures):
    made, folder = pictures("long")
    text = (folder / made["storyboard"]).read_text()
    assert text.count("-->") == MAX_TILES
    assert len(list(folder.glob("sheet-*.jpg"))) == MAX_TILES // 25


@pytest.mark.parametrize(("clip", "width"), [("cover", 300), ("sound", 1280)])
def test_a_sound_shows_its_cover_or_its_shape(pictures, clip, width):
    made, folder = pictures(clip)
    assert made["storyboard"] is None
    assert described(folder / "poster.jpg")["streams"][0]["width"] == width
