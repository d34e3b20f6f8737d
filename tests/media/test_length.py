"""A length is believed as far as it can be true: a small file never buys days of work by writing a large number."""


import pytest

from shared.errors import Permanent
from tests.media.reading import ffmpeg
from workers.media import ffmpeg as runner
from workers.media.encode import encode_part
from workers.media.length import refuse_too_long
from workers.media.plan import make_plan
from workers.media.probe import probe


@pytest.fixture
def gaps(tmp_path):
    """A hundred frames, each so many seconds after the one before."""

    def gaps(seconds: int, kind: str = "mkv", *more: str) -> bytes:
        path = tmp_path / f"gaps.{kind}"
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x64:d=100:r=1", "-vf", f"setpts=N*{seconds}/TB", "-c:v", "ffv1",
               "-fps_mode", "passthrough", *more, str(path))  # fmt: skip
        return path.read_bytes()

    return gaps


@pytest.mark.parametrize("kind", ["mkv", "nut"])
def test_a_file_that_claims_months_is_refused(served, work, gaps, kind):
    with pytest.raises(Permanent, match="longer than the 24 hours"):
        probe(served(gaps(100_000, kind)), work)


def test_a_length_nobody_wrote_down_is_held_to_the_same(served, work, gaps):
    content = bytearray(gaps(100_000, "mkv"))
    place = content.find(b"\x44\x89")  # the element Duration, made into one to be skipped
    content[place : place + 2] = b"\x53\x78"
    with pytest.raises(Permanent, match="longer than the 24 hours"):
        probe(served(bytes(content)), work)


def test_a_file_whose_frames_go_on_for_longer_than_it_says_is_given_up_on_the_way(served, work, gaps, tmp_path, monkeypatch):
    url = served(gaps(40))
    part = make_plan(probe(url, work)).part("first")
    monkeypatch.setattr(runner, "LONGEST", 600.0)
    with pytest.raises(Permanent, match="longer than"):
        encode_part(url, part, tmp_path, work)


@pytest.mark.parametrize(
    ("hours", "size", "refused"),
    [(24, 50_000, False), (0.9, 700, False), (12, 20_000, True), (24.1, 10**10, True), (24, 0, False)],
)
def test_what_a_length_needs_in_bytes(hours, size, refused):
    try:
        refuse_too_long(hours * 3600, size)
    except Permanent:
        assert refused
    else:
        assert not refused


def test_a_picture_that_hardly_moves_for_hours_is_an_honest_one(served, work, tmp_path):
    path = tmp_path / "still.mp4"
    ffmpeg("-f", "lavfi", "-i", "color=gray:s=64x36:r=1/10:d=43200", "-c:v", "libx264", "-preset", "ultrafast",
           "-pix_fmt", "yuv420p", str(path))  # fmt: skip
    assert probe(served(path), work).duration == pytest.approx(43200, abs=20)
