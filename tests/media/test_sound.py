"""Sound: from zero on, with the picture, stereo, as loud as it was."""

import pytest

from tests.media.reading import brightness, ffmpeg, loudness, samples
from workers.media.package import package
from workers.media.pictures import make_pictures


def onset(sound: list[float], rate: int = 48_000) -> float:
    """When it first gets loud."""
    loudest = max(map(abs, sound))
    return next(place for place, value in enumerate(sound) if abs(value) > 0.3 * loudest) / rate


def test_the_flash_and_the_beep_stay_together(made, served, work, tmp_path):
    out = made("clapper")
    [label] = [name for name in out.renditions if name != "audio"]
    flash = next(place for place, grey in enumerate(brightness(out.whole(label))) if grey > 200) / 25
    beep = onset(samples(out.whole("audio")))
    assert flash == pytest.approx(1.0, abs=0.001)
    assert beep == pytest.approx(1.0, abs=0.004)

    package([served(out.whole(label)), served(out.whole("audio"))], tmp_path, work, duration=3.0)
    joined = tmp_path / "video.mp4"
    assert next(place for place, grey in enumerate(brightness(joined)) if grey > 200) / 25 == pytest.approx(1.0)
    assert onset(samples(joined)) == pytest.approx(1.0, abs=0.004)


def test_sound_that_starts_late_starts_with_silence(made):
    out = made("late_sound", only=("audio",))
    assert out.renditions["audio"]["duration"] == pytest.approx(3.0, abs=0.1)
    assert loudness(out.whole("audio"), 0.2, 1.0) < -60
    assert loudness(out.whole("audio"), 1.8, 1.0) > -30


def test_the_sound_of_a_picture_that_starts_late_is_not_moved(made, tmp_path, a_clip):
    late = tmp_path / "late.mkv"
    ffmpeg("-i", str(a_clip("clapper")), "-itsoffset", "0.5", "-i", str(a_clip("clapper")), "-map", "0:a", "-map", "1:v",
           "-c", "copy", str(late))  # fmt: skip
    out = made(late)
    [label] = [name for name in out.renditions if name != "audio"]
    greys = brightness(out.whole(label))
    assert next(place for place, grey in enumerate(greys) if grey > 200) / 25 == pytest.approx(1.5, abs=0.041)
    assert onset(samples(out.whole("audio"))) == pytest.approx(1.0, abs=0.004)


def test_one_channel_becomes_two_as_loud_as_it_was(made, a_clip):
    out = made("plain", only=("audio",))
    before, after = loudness(a_clip("plain"), 0.5, 1.0), loudness(out.whole("audio"), 0.5, 1.0)
    assert out.renditions["audio"]["channels"] == 2
    assert after == pytest.approx(before, abs=1.0)


def test_speech_in_the_centre_of_surround_sound_stays_as_loud(made, a_clip):
    out = made("surround", only=("audio",))
    only_centre = ffmpeg("-i", str(a_clip("surround")), "-vn", "-af", "pan=mono|c0=FC", "-f", "wav", "-")
    centre = out.folder / "centre.wav"
    centre.write_bytes(only_centre)
    assert loudness(out.whole("audio"), 0.1, 0.8) == pytest.approx(loudness(centre, 0.1, 0.8) - 3, abs=1.5)


def test_six_loud_channels_do_not_clip_in_two(made):
    out = made("loud_surround", only=("audio",))
    assert max(map(abs, samples(out.whole("audio")))) <= 1.0


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("wav", "-f lavfi -i sine=d=0.01"),
        ("wav", "-f lavfi -i sine=d=0.0001"),
        ("flac", "-f lavfi -i sine=d=0.001"),
        ("mp3", "-f lavfi -i sine=d=0.02"),
        ("m4a", "-f lavfi -i sine=d=0.01"),
        ("ogg", "-f lavfi -i sine=d=0.005 -c:a flac"),
        ("mkv", "-f lavfi -i testsrc2=s=320x180:r=25:d=1 -f lavfi -i sine=d=0.01 -c:v libx264 -c:a pcm_s16le"),
    ],
)
def test_a_click_is_a_sound_too(made, served, work, tmp_path, kind, arguments):
    clip = tmp_path / f"click.{kind}"
    ffmpeg(*arguments.split(), str(clip))
    out = made(clip, only=("audio",))
    assert 0.05 < out.renditions["audio"]["duration"] < 0.2
    assert len(samples(out.whole("audio"))) > 0
    whole = served(out.whole("audio"))
    assert package([whole], tmp_path, work, duration=out.renditions["audio"]["duration"])["size"] > 0
    if out.probe.video is None:
        assert make_pictures(out.url, out.plan.part("pictures"), tmp_path, work, base="")["poster"]
