"""What is there of a damaged source is played and its owner told; what we did not get is never taken for its fault."""

import re
import shutil
import threading

import pytest

from shared.clock import SystemClock
from shared.errors import Busy, Full, Permanent, Stopped
from shared.local.blobs import LocalBlobs
from tests.media.reading import ffmpeg
from workers.media import source
from workers.media.encode import encode_part
from workers.media.ffmpeg import run
from workers.media.plan import make_plan
from workers.media.probe import probe
from workers.media.verify import Incomplete, checked


def test_a_file_cut_short_plays_what_it_has_and_says_so(made, a_clip):
    whole = a_clip("faststart").read_bytes()
    out = made(whole[: len(whole) * 6 // 10], only=("first", "audio"))
    for name, what in (("first", "picture"), ("audio", "sound")):
        [note] = out.parts[name].result["notes"]
        assert re.fullmatch(rf"the file ends early: \d\.\d of 4\.\d seconds of its {what} are there", note)
    assert 1.5 < out.video["duration"] < 3.5


def test_from_a_minute_on_what_is_there_is_told_in_minutes(made, tmp_path):
    film = tmp_path / "film.mp4"
    ffmpeg("-f", "lavfi", "-i", "testsrc2=s=64x36:r=10:d=90", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p",
           "-movflags", "+faststart", str(film))  # fmt: skip
    whole = film.read_bytes()
    begins = whole.find(b"mdat")
    [note] = made(whole[: begins + (len(whole) - begins) // 2], only=("first",)).parts["first"].result["notes"]
    assert re.fullmatch(r"the file ends early: 0:\d\d of 1:30 minutes of its picture are there", note)


def test_a_picture_shorter_than_its_sound_is_not_called_cut_short(made, a_clip, tmp_path):
    uneven = tmp_path / "uneven.mkv"
    ffmpeg("-t", "1", "-i", str(a_clip("plain")), "-i", str(a_clip("plain")), "-map", "0:v", "-map", "1:a", "-c", "copy",
           str(uneven))  # fmt: skip
    out = made(uneven, only=("first", "audio"))
    assert out.parts["first"].result["notes"] == out.parts["audio"].result["notes"] == []


def test_nothing_playable_inside_is_the_owners_to_know(made, a_clip):
    whole = bytearray(a_clip("faststart").read_bytes())
    start = whole.find(b"mdat") + 4
    whole[start:] = b"\xff" * (len(whole) - start)
    with pytest.raises(Permanent):
        made(bytes(whole), only=("first",))


def test_a_few_bad_bytes_in_the_middle_cost_no_more_than_those(made, a_clip):
    whole = bytearray(a_clip("faststart").read_bytes())
    middle = len(whole) // 2
    whole[middle : middle + 2000] = b"\xff" * 2000
    out = made(bytes(whole), only=("first", "audio"))
    assert out.video["duration"] == pytest.approx(4.0, abs=0.2)


class BreaksOff(LocalBlobs):
    """A real store that fails once a source has been read beyond some byte."""

    fails_after = 10**9

    def read(self, container, name, *, start=0, end=None, if_match=None):
        for piece in super().read(container, name, start=start, end=end, if_match=if_match):
            keep = max(0, self.fails_after - start)
            yield piece[:keep]
            if keep < len(piece):
                raise Busy("the store does not answer")
            start += len(piece)


def test_a_store_that_fails_in_the_middle_is_never_taken_for_a_short_file(a_clip, tmp_path, work):
    blobs = BreaksOff(tmp_path / "blobs", SystemClock(), secret="")
    blobs.create_container("sources")
    content = a_clip("faststart").read_bytes()
    blobs.put("sources", "v", content)
    with source.serve(blobs, "sources", "v") as url:
        part = make_plan(probe(url, work)).part("first")
    blobs.fails_after = len(content) * 6 // 10
    with pytest.raises(Busy, match="could not be read"), source.serve(blobs, "sources", "v") as url:
        encode_part(url, part, tmp_path, work)


def test_a_store_that_fails_at_once_is_never_taken_for_a_bad_file(a_clip, tmp_path, work):
    blobs = BreaksOff(tmp_path / "blobs", SystemClock(), secret="")
    blobs.create_container("sources")
    blobs.put("sources", "v", a_clip("plain").read_bytes())
    blobs.fails_after = 1000
    with pytest.raises(Busy, match="could not be read"), source.serve(blobs, "sources", "v") as url:
        probe(url, work)


def test_a_segment_that_lost_frames_is_not_accepted(made, tmp_path):
    rendition = made("plain", only=("first",)).video
    shutil.copytree(rendition["folder"], tmp_path, dirs_exist_ok=True)
    playlist = tmp_path / rendition["playlist"]
    playlist.write_text(playlist.read_text().replace("#EXTINF:2.0", "#EXTINF:3.0"))
    with pytest.raises(Incomplete, match="frames"):
        checked(tmp_path, rendition)


def test_a_segment_that_is_missing_is_not_accepted(made, tmp_path):
    rendition = made("plain", only=("audio",)).renditions["audio"]
    shutil.copytree(rendition["folder"], tmp_path, dirs_exist_ok=True)
    next(tmp_path.glob("*.m4s")).unlink()
    with pytest.raises(Incomplete, match="missing"):
        checked(tmp_path, rendition)


def test_a_full_disk_is_the_machines_fault(served, a_clip, work):
    """The device that is always full stands for it."""
    with pytest.raises(Full):
        run(["-f", "lavfi", "-i", "testsrc2=s=320x180:d=1", "-f", "rawvideo", "/dev/full"], work)


def test_work_that_was_never_wanted_starts_nothing(work):
    work.stopped.set()
    with pytest.raises(Stopped):
        run(["-version"], work)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.98])
@pytest.mark.parametrize("kind", ["aiff", "w64", "nut", "caf", "mkv", "ogg", "avi"])
def test_a_sound_cut_short_keeps_nobody_waiting(served, a_clip, tmp_path, work, kind, share):
    """Some of their heads send the reader past the end of what there is, and back."""
    whole = tmp_path / f"whole.{kind}"
    ffmpeg("-i", str(a_clip("plain")), "-vn", *(["-c:a", "flac"] if kind == "ogg" else []), str(whole))
    content = whole.read_bytes()
    impatience = threading.Timer(20, work.stopped.set)
    impatience.start()
    try:
        assert probe(served(content[: int(len(content) * share)]), work).audio is not None
    except Permanent:
        assert share < 0.9
    finally:
        impatience.cancel()


def test_what_has_no_length_at_all_is_said_to_be_too_short(made, tmp_path):
    rendition = made("plain", only=("audio",)).renditions["audio"]
    shutil.copytree(rendition["folder"], tmp_path, dirs_exist_ok=True)
    playlist = tmp_path / rendition["playlist"]
    playlist.write_text(re.sub(r"#EXTINF:[0-9.]+", "#EXTINF:0.000000", playlist.read_text()))
    with pytest.raises(Permanent, match="too short"):
        checked(tmp_path, rendition)
