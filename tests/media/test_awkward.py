"""Sources that broke real systems, and what must come out of them."""

from itertools import pairwise

import pytest

from tests.media.reading import described, ffmpeg, first_shown, shown_times
from workers.media.probe import probe


@pytest.mark.parametrize(
    ("clip", "size", "rate", "seconds"),
    [
        ("odd", (464, 306), 25, 1),
        ("gif", (200, 150), 10, 1),
        ("x444", (320, 180), 25, 1),
        ("prores", (320, 180), 25, 1),
        ("hdr10", (320, 180), 10, 1),
        ("hlg", (320, 180), 10, 1),
        ("portrait", (360, 640), 25, 1),
        ("anamorphic", (640, 360), 25, 1),
        ("slow", (320, 180), 30, 1),
        ("interlaced", (450, 360), 25, 1),
        ("still", (320, 180), 5, 20),
        ("no_length", (320, 180), 30, 2),
        ("one_frame", (320, 180), 25, 0.04),
        ("late_start", (320, 180), 25, 2),
        ("vfr", (320, 180), 30, 3.8),
    ],
)
def test_what_comes_out_is_upright_square_even_constant_and_from_zero_on(made, clip, size, rate, seconds):
    out = made(clip, only=("first",))
    path = out.whole(out.video["name"])
    [stream] = described(path)["streams"]
    assert (stream["width"], stream["height"]) == size
    assert stream["pix_fmt"] == "yuv420p"
    assert stream.get("sample_aspect_ratio", "1:1") == "1:1"
    assert stream["color_transfer"] == stream["color_primaries"] == "bt709"
    assert stream.get("field_order", "progressive") == "progressive"
    times = shown_times(path)
    assert [after - before for before, after in pairwise(times)] == pytest.approx([1 / rate] * (len(times) - 1), abs=2e-3)
    assert len(times) / rate == pytest.approx(seconds, abs=0.15)
    assert out.video["duration"] == pytest.approx(len(times) / rate, abs=0.01)
    assert first_shown(out.segments(out.video["name"])[0][0]) == 0
    assert out.parts["first"].result["notes"] == []


@pytest.mark.parametrize(("turn", "size"), [("-90", (180, 320)), ("90", (180, 320)), ("180", (320, 180))])
def test_a_turned_picture_comes_out_upright_without_a_turn_left_in_it(made, a_clip, tmp_path, turn, size):
    turned = tmp_path / "turned.mp4"
    ffmpeg("-display_rotation:v:0", turn, "-i", str(a_clip("silent")), "-c", "copy", str(turned))
    [before] = described(turned)["streams"]
    assert abs(before["side_data_list"][0]["rotation"]) == abs(int(turn))
    out = made(turned, only=("first",))
    [stream] = described(out.whole(out.video["name"]))["streams"]
    assert (stream["width"], stream["height"]) == size
    assert not any("rotation" in side for side in stream.get("side_data_list", []))


def test_a_picture_turned_half_round_is_turned_back(made, tmp_path):
    half = tmp_path / "half.mp4"
    ffmpeg("-f", "lavfi", "-i", "color=black:s=320x180:r=10:d=1", "-vf", "drawbox=c=white:h=90:t=fill", "-c:v",
           "libx264", "-pix_fmt", "yuv420p", str(half))  # fmt: skip
    turned = tmp_path / "turned.mp4"
    ffmpeg("-display_rotation:v:0", "180", "-i", str(half), "-c", "copy", str(turned))
    out = made(turned, only=("first",))
    raw = ffmpeg("-i", str(out.whole(out.video["name"])), "-frames:v", "1", "-vf", "scale=1:2:flags=area,format=gray",
                 "-f", "rawvideo", "-")  # fmt: skip
    assert raw[0] < 30
    assert raw[1] > 200


def test_no_black_edge_is_added_to_an_odd_size(made, tmp_path):
    white = tmp_path / "white.webm"
    ffmpeg("-f", "lavfi", "-i", "color=white:s=465x307:r=10:d=1,format=yuv444p", "-c:v", "libvpx-vp9", "-b:v", "300k",
           "-deadline", "realtime", "-cpu-used", "8", str(white))  # fmt: skip
    out = made(white, only=("first",))
    raw = ffmpeg("-i", str(out.whole(out.video["name"])), "-frames:v", "1", "-vf", "format=gray", "-f", "rawvideo", "-")
    assert min(raw) > 220


def test_interlaced_fields_are_woven_into_whole_pictures(made):
    out = made("interlaced", only=("first",))
    [stream] = described(out.whole(out.video["name"]))["streams"]
    assert out.probe.video.interlaced
    assert stream["field_order"] == "progressive"


def test_a_recording_that_was_joined_with_a_jump_in_time_plays_on(made, a_clip, tmp_path):
    once = tmp_path / "once.ts"
    ffmpeg("-i", str(a_clip("plain")), "-c", "copy", str(once))
    out = made(once.read_bytes() * 2, only=("first", "audio"))
    for rendition in out.renditions.values():
        assert rendition["duration"] == pytest.approx(4.0, abs=0.2)
        assert first_shown(out.segments(rendition["name"])[0][0]) == 0


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("nut", "-c copy -metadata:s:v:0 rotate=90"),
        ("nut", "-c copy -metadata:s:v:0 rotate=abc"),
        ("nut", "-c copy -metadata:s:v:0 rotate=nan"),
        ("nut", "-c copy -metadata:s:v:0 rotate=1e400"),
        ("mkv", "-c copy -metadata:s:v:0 rotate=inf"),
        ("mp4", "-c copy -bsf:v h264_metadata=display_orientation=insert:rotate=90"),
        ("mp4", "-c copy -bsf:v h264_metadata=display_orientation=insert:rotate=45"),
    ],
)
def test_a_picture_keeps_its_shape_whatever_turn_is_written_where(made, a_clip, tmp_path, kind, arguments):
    """A tag turns nothing; a matrix within the frames does, though the file says nothing of it."""
    path = tmp_path / f"turned.{kind}"
    ffmpeg("-i", str(a_clip("silent")), *arguments.split(), str(path))
    out = made(path, only=("first",))
    assert (out.video["width"], out.video["height"]) == shown_size(path)


@pytest.mark.parametrize("turn", ["45", "-45", "30", "60", "89.5", "-90.5", "91.5", "135"])
def test_only_a_turn_by_a_right_angle_lays_a_picture_on_its_side(served, a_clip, work, tmp_path, turn):
    path = tmp_path / "turned.mp4"
    ffmpeg("-display_rotation:v:0", turn, "-i", str(a_clip("silent")), "-c", "copy", str(path))
    video = probe(served(path), work).video
    assert (video.width, video.height) == shown_size(path)


def shown_size(path):
    """Of the picture as ffmpeg itself turns it."""
    still = path.with_suffix(".jpg")
    ffmpeg("-i", str(path), "-frames:v", "1", "-update", "1", str(still))
    [stream] = described(still)["streams"]
    return stream["width"], stream["height"]
