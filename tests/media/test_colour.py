"""Colours stay what they were, whatever they were told in."""

import pytest

from tests.media.reading import ffmpeg, pixel

RED = (255, 0, 0)


@pytest.mark.parametrize("clip", ["red_gif", "red_601"])
def test_red_stays_red_from_rgb_and_from_standard_definition(made, clip):
    out = made(clip, only=("first",))
    assert pixel(out.whole(out.video["name"])) == pytest.approx(RED, abs=8)


def test_red_of_full_range_stays_red(made, tmp_path):
    full = tmp_path / "full.mp4"
    ffmpeg("-f", "lavfi", "-i", "color=red:s=64x64:r=10:d=1", "-vf",
           "scale=out_range=pc:out_color_matrix=bt601,format=yuvj420p", "-c:v", "libx264", "-qp", "0",
           str(full))  # fmt: skip
    out = made(full, only=("first",))
    assert pixel(out.whole(out.video["name"])) == pytest.approx(RED, abs=8)


def test_white_in_high_range_is_bright_grey_not_washed_out_and_black_is_black(made, tmp_path):
    """100 cd/m2 of 10,000 is code 0.508 of PQ; taken for SDR it would be a middle grey, and black would be lifted."""
    for code, low, high in ((508, 140, 255), (0, 0, 12)):
        film = tmp_path / f"pq{code}.mp4"
        luma = 64 + round(code / 1000 * 876)
        ffmpeg("-f", "lavfi", "-i", "color=black:s=64x64:r=10:d=1,format=yuv420p10le", "-vf",
               f"lutyuv=y={luma}:u=512:v=512,setparams=color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc",
               "-c:v", "libx265", "-x265-params", "log-level=error:lossless=1", "-pix_fmt", "yuv420p10le", str(film))  # fmt: skip
        out = made(film, only=("first",))
        red, green, blue = pixel(out.whole(out.video["name"]))
        assert low <= green <= high
        assert abs(red - green) < 6
        assert abs(blue - green) < 6
