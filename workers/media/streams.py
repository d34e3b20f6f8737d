"""Which streams of a source count and what they are, from what ffprobe says of them."""

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from shared.errors import Permanent
from workers.media.told import Described, clock_time, ratio, seconds, turned, whole

_HDR = ("smpte2084", "arib-std-b67")
_INTERLACED = ("tt", "bb", "tb", "bt")
_MATRICES = {
    "bt709": "bt709",
    "smpte170m": "bt601",
    "bt470bg": "bt601",
    "bt2020nc": "bt2020",
    "bt2020c": "bt2020",
    "smpte240m": "smpte240m",
    "fcc": "fcc",
}
_ANY_RATE = Fraction(30)
_RATES = Fraction(1, 10**6), Fraction(1000)
_ASPECTS = Fraction(1, 16), Fraction(16)
"""Of one pixel. What says it is longer is a slip of the pen: a picture would be shown as a line."""


class VideoStream(msgspec.Struct, frozen=True, kw_only=True):
    """The picture as it is shown: `width` x `height` upright with square pixels; `rate` frames a second, average.

    `hdr` is the transfer function of a high dynamic range, or None; `matrix` how its colours are told; `ends` the
    second of the file at which it says it ends, if it says so.
    """

    index: int
    codec: str
    width: int
    height: int
    rate: tuple[int, int]
    interlaced: bool = False
    hdr: str | None = None
    matrix: str = "bt709"
    deep: bool = False
    ends: float | None = None


class AudioStream(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    codec: str
    channels: int
    ends: float | None = None


def choose_video(streams: Sequence[Described], start: float, max_pixels: int) -> VideoStream | None:
    """The default picture that is no cover; without one, the largest. Raises Permanent for what cannot be shown.

    `start` is the second at which the file says it begins.
    """
    pictures = [
        stream
        for stream in streams
        if stream.get("codec_type") == "video"
        and not _disposed(stream, "attached_pic")
        and _is_known(stream)
        and _area(stream) > 0
    ]
    if not pictures:
        return None
    chosen = max(pictures, key=lambda s: (_disposed(s, "default"), _area(s)))
    _refuse_too_large(chosen, max_pixels)
    _refuse_dolby(chosen)
    width, height = _display_size(chosen)
    rate = _rate(chosen)
    return VideoStream(
        index=whole(chosen["index"]),
        codec=str(chosen["codec_name"]),
        width=width,
        height=height,
        rate=(rate.numerator, rate.denominator),
        interlaced=chosen.get("field_order") in _INTERLACED,
        hdr=chosen["color_transfer"] if chosen.get("color_transfer") in _HDR else None,
        matrix=_MATRICES.get(str(chosen.get("color_space")), "bt709" if max(width, height) > 1024 else "bt601"),
        deep=any(mark in str(chosen.get("pix_fmt")) for mark in ("10", "12", "16")),
        ends=_end(chosen, start),
    )


def choose_audio(streams: Sequence[Described], start: float) -> list[AudioStream]:
    """The sounds with a known codec, the default one first."""
    sounds = [
        stream
        for stream in streams
        if stream.get("codec_type") == "audio" and _is_known(stream) and whole(stream.get("channels")) > 0
    ]
    sounds.sort(key=lambda stream: not _disposed(stream, "default"))
    return [
        AudioStream(
            index=whole(stream["index"]),
            codec=str(stream["codec_name"]),
            channels=whole(stream["channels"]),
            ends=_end(stream, start),
        )
        for stream in sounds
    ]


def cover_of(streams: Sequence[Described]) -> int | None:
    """The index of a picture that came with a sound."""
    return next((whole(stream["index"]) for stream in streams if _disposed(stream, "attached_pic")), None)


def _is_known(stream: Described) -> bool:
    return stream.get("codec_name") not in (None, "none", "unknown")


def _disposed(stream: Described, what: str) -> bool:
    return bool(stream.get("disposition", {}).get(what))


def _refuse_too_large(stream: Described, max_pixels: int) -> None:
    if _area(stream) > max_pixels:
        size = f"{whole(stream['width'])}x{whole(stream['height'])}"
        raise Permanent(f"its picture of {size} pixels is larger than this site can show")


def _refuse_dolby(stream: Described) -> None:
    for side in stream.get("side_data_list", []):
        if side.get("dv_profile") == 5 and not side.get("dv_bl_signal_compatibility_id"):
            raise Permanent(
                "this Dolby Vision file (profile 5) has no picture that others can show; export it as HDR10 or SDR"
            )


def _area(stream: Described) -> int:
    return whole(stream.get("width")) * whole(stream.get("height"))


def _display_size(stream: Described) -> tuple[int, int]:
    width, height = whole(stream["width"]), whole(stream["height"])
    width = max(1, round(width * (ratio(stream.get("sample_aspect_ratio"), *_ASPECTS) or 1)))
    return (height, width) if turned(stream.get("side_data_list", [])) else (width, height)


def _rate(stream: Described) -> Fraction:
    """The average; where no one knows it, the finest step between two frames unless that is only a clock."""
    step = ratio(stream.get("r_frame_rate"), *_RATES)
    return ratio(stream.get("avg_frame_rate"), *_RATES) or (step if step and step <= 120 else _ANY_RATE)


def _end(stream: Described, start: float) -> float | None:
    length = seconds(stream.get("duration")) or clock_time(stream.get("tags", {}).get("DURATION"))
    if not length or length < 0:
        return None
    return (seconds(stream.get("start_time")) or 0.0) - start + length
