"""What a look at a source finds."""

from fractions import Fraction

import pytest

from shared.errors import Permanent
from tests.media.reading import ffmpeg
from workers.media.probe import measured, probe
from workers.media.streams import choose_audio, choose_video


@pytest.mark.parametrize(
    ("clip", "width", "height"),
    [("plain", 320, 180), ("odd", 465, 307), ("portrait", 360, 640), ("anamorphic", 1024, 576)],
)
def test_the_size_is_the_one_shown_with_square_pixels(served, a_clip, work, clip, width, height):
    video = probe(served(a_clip(clip)), work).video
    assert (video.width, video.height) == (width, height)


def test_a_phones_portrait_is_upright(served, a_clip, work, tmp_path):
    turned = tmp_path / "turned.mp4"
    ffmpeg("-display_rotation:v:0", "-90", "-i", str(a_clip("silent")), "-c", "copy", str(turned))
    video = probe(served(turned), work).video
    assert (video.width, video.height) == (180, 320)


def test_interlaced_and_hdr_pictures_are_told(served, a_clip, work):
    assert probe(served(a_clip("interlaced")), work).video.interlaced
    assert probe(served(a_clip("hdr10")), work).video.hdr == "smpte2084"
    plain = probe(served(a_clip("plain")), work).video
    assert not plain.interlaced
    assert plain.hdr is None


def test_a_length_nobody_wrote_down_is_measured(served, a_clip, work):
    assert probe(served(a_clip("no_length")), work).duration == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(("clip", "seconds"), [("plain", 2.0), ("late_start", 2.0), ("late_sound", 3.0)])
def test_a_length_measured_is_the_one_told(served, a_clip, work, clip, seconds):
    assert measured(served(a_clip(clip)), 0, work) == pytest.approx(seconds, abs=0.1)


def test_cover_art_is_no_video(served, a_clip, work):
    found = probe(served(a_clip("cover")), work)
    assert found.video is None
    assert found.cover is not None


def test_cover_art_beside_a_video_is_not_the_video(served, a_clip, work, tmp_path):
    covered = tmp_path / "covered.mp4"
    ffmpeg("-i", str(a_clip("jpeg")), "-i", str(a_clip("plain")), "-map", "0", "-map", "1", "-c", "copy",
           "-disposition:v:0", "attached_pic", str(covered))  # fmt: skip
    video = probe(served(covered), work).video
    assert (video.width, video.height) == (320, 180)


def test_the_default_track_is_taken_and_the_owner_told_of_the_other(served, a_clip, work):
    found = probe(served(a_clip("two_tracks")), work)
    assert found.audio.index == 2
    assert found.notes == ("1 more audio track was left out",)


def test_a_track_of_an_unknown_kind_is_passed_over_for_one_that_decodes(served, a_clip, work, tmp_path):
    content = _with_unknown_sound(a_clip, tmp_path, "-map", "0:v", "-map", "0:a", "-map", "0:a")
    found = probe(served(content), work)
    assert found.audio.index == 1
    assert found.notes == ("1 more audio track was left out",)


def test_a_video_whose_only_sound_is_of_an_unknown_kind_is_a_silent_one(served, a_clip, work, tmp_path):
    content = _with_unknown_sound(a_clip, tmp_path, "-map", "0:v", "-map", "0:a")
    found = probe(served(content), work)
    assert found.audio is None
    assert found.notes == ("its sound is of a kind that cannot be played and was left out",)


def _with_unknown_sound(a_clip, tmp_path, *maps):
    """As a telephone of 2024 writes it: the last track's codec is one no free decoder knows."""
    path = tmp_path / "two.mp4"
    ffmpeg("-i", str(a_clip("plain")), *maps, "-c", "copy", "-disposition:a", "default", str(path))
    content = bytearray(path.read_bytes())
    entry = content.rfind(b"mp4a")
    content[entry : entry + 4] = b"apac"
    config = content.find(b"esds", entry)
    content[config : config + 4] = b"free"
    return bytes(content)


def test_subtitles_inside_are_said_to_be_left_out(served, a_clip, work):
    assert probe(served(a_clip("with_subtitles")), work).notes == ("the subtitles inside the file were left out",)


def test_a_conversion_that_loses_something_is_told(served, a_clip, work):
    assert "high dynamic range" in probe(served(a_clip("hlg")), work).notes[0]
    assert "more than 8 bits" in probe(served(a_clip("prores")), work).notes[0]


def test_the_rate_of_slow_motion_is_the_sources(served, a_clip, work):
    assert Fraction(*probe(served(a_clip("slow")), work).video.rate) == 240


def test_a_rate_that_is_only_a_clock_is_not_taken_for_one():
    stream = {"index": 0, "codec_type": "video", "codec_name": "vp8", "width": 64, "height": 36}
    video = choose_video([{**stream, "avg_frame_rate": "0/0", "r_frame_rate": "1000/1"}], 0.0, 10_000)
    assert video.rate == (30, 1)


def test_dolby_vision_without_a_base_picture_is_refused_rather_than_shown_in_purple():
    side = {"side_data_type": "DOVI configuration record", "dv_profile": 5, "dv_bl_signal_compatibility_id": 0}
    stream = {"index": 0, "codec_type": "video", "codec_name": "hevc", "width": 64, "height": 36}
    with pytest.raises(Permanent, match="profile 5"):
        choose_video([{**stream, "side_data_list": [side]}], 0.0, 10_000)


def test_a_sound_without_channels_is_none():
    assert choose_audio([{"index": 0, "codec_type": "audio", "codec_name": "aac", "channels": 0}], 0.0) == []


def test_a_length_of_a_track_is_counted_from_where_the_file_begins():
    stream = {"index": 0, "codec_type": "audio", "codec_name": "aac", "channels": 2}
    [sound] = choose_audio([{**stream, "start_time": "11.5", "duration": "3.0"}], 10.0)
    assert sound.ends == pytest.approx(4.5)
    [sound] = choose_audio([{**stream, "tags": {"DURATION": "00:01:02.500000000"}}], 0.0)
    assert sound.ends == pytest.approx(62.5)
