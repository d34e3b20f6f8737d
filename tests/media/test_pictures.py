"""Posters are never black or missing; storyboards point into their sheets."""

import re

import pytest

from tests.media.reading import described, ffmpeg, pixel
from workers.media.pictures import Small, liveliest, make_pictures
from workers.media.storyboard import MAX_TILES, Storyboard, interval_of


@pytest.fixture
def pictures(made, served, work, tmp_path):
    def make(clip):
        out = made(clip, only=("first",))
        small = None
        if out.probe.video:
            small = Small(url=served(out.whole(out.video["name"])), seconds=out.video["duration"])
        folder = tmp_path / "pictures"
        folder.mkdir()
        result = make_pictures(out.url, out.plan.part("pictures"), folder, work, base="g1/pictures/aa/", small=small)
        return result, folder

    return make


@pytest.mark.parametrize(
    ("clip", "width", "height"),
    [("large", 1280, 720), ("portrait", 360, 640), ("anamorphic", 1024, 576), ("one_frame", 320, 180)],
)
def test_a_poster_is_there_in_the_shape_of_the_video(pictures, clip, width, height):
    _, folder = pictures(clip)
    [stream] = described(folder / "poster.jpg")["streams"]
    assert (stream["width"], stream["height"]) == (width, height)


def test_a_poster_is_not_the_black_the_film_opens_with(pictures, tmp_path):
    film = tmp_path / "film.mp4"
    ffmpeg("-f", "lavfi", "-i", "color=black:s=320x180:r=25:d=3", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=3",
           "-filter_complex", "concat=n=2", "-c:v", "libx264", "-pix_fmt", "yuv420p", str(film))  # fmt: skip
    _, folder = pictures(film)
    raw = ffmpeg(
        "-i", str(folder / "poster.jpg"), "-vf", "scale=1:1:flags=area,format=gray", "-f", "rawvideo", "-"
    )  # fmt: skip
    assert raw[0] > 60


def test_a_poster_has_the_colours_of_the_video(pictures):
    _, folder = pictures("red_601")
    assert pixel(folder / "poster.jpg") == pytest.approx((255, 0, 0), abs=8)


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
    assert made["sheets"] == [path.name for path in folder.glob("sheet-*.jpg")]


def test_a_tile_shows_the_second_it_stands_for(pictures, tmp_path):
    film = tmp_path / "film.mp4"
    ffmpeg("-f", "lavfi", "-i", "color=black:s=320x180:r=25:d=6,geq=lum='16+40*floor(T)':cb=128:cr=128", "-c:v",
           "libx264", "-pix_fmt", "yuv420p", str(film))  # fmt: skip
    _, folder = pictures(film)
    greys = list(ffmpeg("-i", str(folder / "sheet-1.jpg"), "-vf", "scale=5:5:flags=area,format=gray", "-f", "rawvideo",
                        "-"))[:5]  # fmt: skip
    expected = [round(40 * second * 255 / 219) for second in range(5)]
    assert greys == pytest.approx(expected, abs=15)


def test_a_long_video_has_a_bounded_number_of_tiles_each_at_its_time(pictures):
    made, folder = pictures("long")
    text = (folder / made["storyboard"]).read_text()
    assert text.count("-->") == MAX_TILES
    assert len(list(folder.glob("sheet-*.jpg"))) == MAX_TILES // 25
    assert "00:29:48.000 --> 00:30:00.000" in text


@pytest.mark.parametrize("seconds", [0.04, 1, 149, 151, 3600, 43_200])
def test_there_are_never_too_many_tiles(seconds):
    assert seconds / interval_of(seconds) <= MAX_TILES


def test_tiles_are_shaped_like_the_video():
    board = Storyboard(1080, 1920, 1, 10.0)
    assert (board.width, board.height) == (90, 160)


def test_the_tile_for_the_poster_is_neither_black_nor_grey_fade():
    black, fade, lively = bytes(256), bytes([100, 110] * 128), bytes([0, 200] * 128)
    assert liveliest([black, fade, lively, lively, black]) == 2
    assert liveliest([black]) == 0


@pytest.mark.parametrize(("clip", "width"), [("cover", 300), ("sound", 1280)])
def test_a_sound_shows_its_cover_or_its_shape(pictures, clip, width):
    made, folder = pictures(clip)
    assert made["storyboard"] is None
    assert described(folder / "poster.jpg")["streams"][0]["width"] == width
