"""What comes out of the encoder, read back by ffprobe."""

import re
from itertools import pairwise

import pytest

from shared.errors import Permanent
from tests.media.clips import ffmpeg
from tests.media.conftest import described
from workers.media.hls import master_playlist, read_playlist


def test_every_rung_is_h264_that_browsers_play_with_aligned_key_frames(made):
    out = made("large")
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
        cuts.add(tuple(round(s, 2) for _, s in read_playlist(rendition["folder"] / rendition["playlist"]).segments))
        frames = described(path, "-show_entries", "packet=pts_time,flags")["packets"]
        times = [float(frame["pts_time"]) for frame in frames if "K" in frame["flags"]]
        keys.add(tuple(round(time - times[0], 2) for time in times))
        assert first_shown(rendition) == 0
    assert cuts == {(4.0, 1.0)}
    assert keys == {(0.0, 2.0, 4.0)}


def test_the_bandwidths_told_are_those_of_the_segments(made):
    out = made("large", only={"first"})
    rendition = out.renditions["360p"]
    playlist = read_playlist(rendition["folder"] / rendition["playlist"])
    rates = [(rendition["folder"] / name).stat().st_size * 8 / seconds for name, seconds in playlist.segments]
    assert rendition["bandwidth"] == pytest.approx(max(rates), rel=0.01)
    assert rendition["average_bandwidth"] <= rendition["bandwidth"]


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


def test_without_sound_no_audio_group_is_told(made):
    text = master_playlist(made("silent").parts, 1)
    assert "AUDIO" not in text
    assert "mp4a" not in text


def test_a_sound_alone_has_a_playlist_of_its_own(made):
    text = master_playlist(made("sound").parts, 1)
    assert 'CODECS="mp4a.40.2"' in text
    assert "g1/audio/aa/audio.m3u8" in text
    assert "RESOLUTION" not in text


@pytest.mark.parametrize(
    ("clip", "seconds"),
    [
        ("odd", 1), ("gif", 1), ("x444", 1), ("hdr10", 1), ("portrait", 1), ("anamorphic", 1), ("slow", 1),
        ("interlaced", 1), ("still", 20), ("endless", 2), ("one_frame", 0.04), ("late_start", 2), ("vfr", 4),
    ],
)  # fmt: skip
def test_awkward_sources_come_out_right(made, clip, seconds):
    out = made(clip, only={"first"})
    [rendition] = out.renditions.values()
    [stream] = described(out.whole(rendition["name"]))["streams"]
    assert stream["pix_fmt"] == "yuv420p"
    assert stream.get("sample_aspect_ratio", "1:1") == "1:1"
    assert stream["color_transfer"] == "bt709"
    assert stream["width"] % 2 == stream["height"] % 2 == 0
    assert stream.get("field_order", "progressive") == "progressive"
    assert rendition["duration"] == pytest.approx(seconds, abs=max(0.25, seconds * 0.05))
    assert first_shown(rendition) == 0


def test_a_phones_portrait_comes_out_upright_without_a_turn_left_in_it(made, a_clip, tmp_path):
    turned = tmp_path / "turned.mp4"
    ffmpeg("-display_rotation:v:0", "-90", "-i", str(a_clip("silent")), "-c", "copy", str(turned))
    out = made(turned, only={"first"})
    [rendition] = out.renditions.values()
    [stream] = described(out.whole(rendition["name"]))["streams"]
    assert (stream["width"], stream["height"]) == (180, 320)
    assert not any("rotation" in side for side in stream.get("side_data_list", []))


def test_a_constant_rate_comes_out_of_a_varying_one(made):
    out = made("vfr", only={"first"})
    [rendition] = out.renditions.values()
    packets = described(out.whole(rendition["name"]), "-show_entries", "packet=pts_time")["packets"]
    times = sorted(float(packet["pts_time"]) for packet in packets)
    steps = {round(b - a, 3) for a, b in pairwise(times)}
    assert max(steps) - min(steps) <= 0.002


def test_sound_that_starts_late_starts_with_silence(made):
    out = made("late_sound", only={"audio"})
    assert out.renditions["audio"]["duration"] == pytest.approx(3.0, abs=0.1)
    levels = [loudness(out.whole("audio"), 0.2, 1.0), loudness(out.whole("audio"), 1.8, 1.0)]
    assert levels[0] < -60
    assert levels[1] > -30


def test_the_centre_of_surround_sound_stays_audible(made):
    out = made("surround", only={"audio"})
    assert out.renditions["audio"]["channels"] == 2
    assert loudness(out.whole("audio"), 0.1, 0.8) > -40


def test_a_file_cut_short_plays_what_it_has_and_says_so(made, a_clip, tmp_path):
    whole = a_clip("faststart").read_bytes()
    short = tmp_path / "short.mp4"
    short.write_bytes(whole[: len(whole) * 6 // 10])
    out = made(short, only={"first"})
    [note] = out.parts["first"].result["notes"]
    assert "ends early" in note
    assert out.renditions["180p" if "180p" in out.renditions else next(iter(out.renditions))]["duration"] < 3.5


def test_nothing_playable_inside_is_the_owners_to_know(made, a_clip):
    whole = bytearray(a_clip("faststart").read_bytes())
    start = whole.find(b"mdat") + 4
    whole[start:] = b"\xff" * (len(whole) - start)
    with pytest.raises(Permanent):
        made(bytes(whole), only={"first"})


def first_shown(rendition) -> int:
    """When the first picture is shown, in the track's units, read straight from the first segment's boxes.

    ffprobe cannot tell: it adds the largest negative composition offset to every time it prints.
    """
    playlist = read_playlist(rendition["folder"] / rendition["playlist"])
    data = (rendition["folder"] / playlist.segments[0][0]).read_bytes()
    decode = data.index(b"tfdt")
    assert data[decode + 4] == 1
    base = int.from_bytes(data[decode + 8 : decode + 16], "big")
    run = data.index(b"trun")
    flags = int.from_bytes(data[run + 5 : run + 8], "big")
    if not flags & 0x800:
        return base
    assert data[run + 4] == 1, "offsets are signed in version 1 only"
    first = run + 12 + 4 * (bool(flags & 0x1) + bool(flags & 0x4))
    fields = [bit for bit in (0x100, 0x200, 0x400, 0x800) if flags & bit]
    count = int.from_bytes(data[run + 8 : run + 12], "big")
    dts, shown = base, []
    for sample in range(count):
        at = first + sample * 4 * len(fields)
        offset = int.from_bytes(data[at + 4 * fields.index(0x800) :][:4], "big", signed=True)
        shown.append(dts + offset)
        dts += int.from_bytes(data[at : at + 4], "big") if 0x100 in fields else _default_duration(data)
    return min(shown)


def _default_duration(data: bytes) -> int:
    header = data.index(b"tfhd")
    flags = int.from_bytes(data[header + 5 : header + 8], "big")
    at = header + 12 + 8 * bool(flags & 0x1) + 4 * bool(flags & 0x2)
    return int.from_bytes(data[at : at + 4], "big")


def loudness(path, start: float, seconds: float) -> float:
    """Mean level in dBFS."""
    import subprocess

    import imageio_ffmpeg

    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-i", str(path), "-ss", str(start), "-t", str(seconds),
               "-af", "volumedetect", "-f", "null", "-"]
    text = subprocess.run(command, check=True, capture_output=True, timeout=60).stderr.decode()
    found = re.search(r"mean_volume: (-?[\d.]+|-inf) dB", text)
    return float(found.group(1)) if found else float("-inf")
