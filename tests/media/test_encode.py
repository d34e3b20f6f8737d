"""What the encoder makes of a well-behaved source: rungs that line up, and playlists that tell the truth."""

import re

import pytest

from tests.media.reading import described, first_shown, key_frame_times
from workers.media.hls import master_playlist


@pytest.mark.parametrize("clip", ["large", "film_rate"])
def test_every_rung_is_h264_that_browsers_play_cut_and_keyed_at_the_same_times(made, clip):
    out = made(clip)
    videos = [rendition for rendition in out.renditions.values() if rendition["kind"] == "video"]
    assert {rendition["label"] for rendition in videos} == {"720p", "480p", "360p", "240p", "144p"}
    cuts, keys = set(), set()
    for rendition in videos:
        path = out.whole(rendition["name"])
        [stream] = described(path)["streams"]
        assert (stream["codec_name"], stream["pix_fmt"]) == ("h264", "yuv420p")
        assert (stream["width"], stream["height"]) == (rendition["width"], rendition["height"])
        assert stream.get("sample_aspect_ratio", "1:1") == "1:1"
        assert stream["color_transfer"] == stream["color_primaries"] == stream["color_space"] == "bt709"
        cuts.add(tuple(round(seconds, 3) for _, seconds in out.segments(rendition["name"])))
        keys.add(tuple(key_frame_times(path)))
        assert first_shown(out.segments(rendition["name"])[0][0]) == 0
    [cut], [key] = cuts, keys
    assert cut == pytest.approx((4.0, 1.0), abs=0.02)
    assert key == pytest.approx((0.0, 2.0, 4.0), abs=0.01)


def test_high_frame_rates_are_kept_at_720p_and_halved_below(made):
    rates = {name: rendition["frame_rate"] for name, rendition in made("film_rate").renditions.items()}
    assert rates == {"720p": 59.94, "480p": 29.97, "360p": 29.97, "240p": 29.97, "144p": 29.97}


def test_the_bandwidths_told_are_those_of_the_segments(made):
    out = made("large", only=("first",))
    segments = [(path.stat().st_size, seconds) for path, seconds in out.segments("360p")]
    [(long, four), (short, one)] = segments
    assert out.video["bandwidth"] == pytest.approx(max(long * 8 / four, (long + short) * 8 / (four + one)), rel=0.001)
    assert out.video["average_bandwidth"] == pytest.approx((long + short) * 8 / (four + one), rel=0.001)


def test_the_master_playlist_names_every_rung_with_its_codecs_and_starts_with_the_first(made):
    out = made("large")
    text = master_playlist(out.parts, 3)
    variants = re.findall(r"#EXT-X-STREAM-INF:(.*)\n(.*)", text)
    assert variants[0][1] == "g3/first/aa/360p.m3u8"
    assert len(variants) == 5
    for fields, _ in variants:
        assert re.search(r'CODECS="avc1\.64[0-9a-f]{4},mp4a\.40\.2"', fields)
        assert 'AUDIO="audio"' in fields
        assert re.search(r"RESOLUTION=\d+x\d+", fields)
    assert 'URI="g3/audio/aa/audio.m3u8"' in text


def test_media_playlists_are_whole_on_demand_and_of_cmaf_segments(made):
    out = made("plain")
    for rendition in out.renditions.values():
        text = (rendition["folder"] / rendition["playlist"]).read_text()
        for line in ("#EXT-X-VERSION:7", "#EXT-X-PLAYLIST-TYPE:VOD", "#EXT-X-MAP:URI=", "#EXT-X-ENDLIST"):
            assert line in text
        assert "/" not in "".join(line for line in text.split("\n") if line.endswith((".m4s", ".mp4")))


def test_without_sound_no_audio_group_is_told(made):
    text = master_playlist(made("silent").parts, 1)
    assert "AUDIO" not in text
    assert "mp4a" not in text


@pytest.mark.parametrize("clip", ["sound", "cover"])
def test_a_sound_alone_has_a_playlist_of_its_own(made, clip):
    text = master_playlist(made(clip).parts, 1)
    assert 'CODECS="mp4a.40.2"' in text
    assert "g1/audio/aa/audio.m3u8" in text
    assert "RESOLUTION" not in text
