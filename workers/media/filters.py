"""The filters that make any source look right: progressive, SDR, square pixels, even sizes, a constant rate."""

from typing import Any

from workers.media.streams import VideoStream

_TONE_MAP = (
    ("zscale", {"t": "linear", "npl": 100}),
    ("format", {"pix_fmts": "gbrpf32le"}),
    ("zscale", {"p": "bt709"}),
    ("tonemap", {"tonemap": "hable", "desat": 0}),
    ("zscale", {"t": "bt709", "m": "bt709", "r": "tv"}),
)


def upright(stream: Any, video: VideoStream, width: int, height: int, *, rate: str | None = None) -> Any:
    """Deinterlaced if it needs it, at a constant `rate` from 0 on if one is given, tone-mapped if HDR.

    What comes out is `width` x `height` with square pixels, 8-bit 4:2:0, BT.709 and tagged so.
    """
    if video.interlaced:
        stream = stream.filter("bwdif", mode="send_frame", deint="interlaced")
    if rate is not None:
        stream = stream.filter("fps", fps=rate, start_time=0)
    if video.hdr:
        stream = _tone_mapped(stream, video.hdr, width, height)
    else:
        stream = stream.filter(
            "scale", width, height, flags="bicubic", out_range="tv", in_color_matrix=video.matrix,
            out_color_matrix="bt709",
        )  # fmt: skip
    # ffmpeg 8 and later take the colours' names from the frames, not from output options.
    return (
        stream.filter("setsar", 1)
        .filter("format", "yuv420p")
        .filter("setparams", color_primaries="bt709", color_trc="bt709", colorspace="bt709", range="tv")
    )


def smaller(stream: Any, width: int, height: int) -> Any:
    """A rung from the one above it."""
    return stream.filter("scale", width, height, flags="bicubic").filter("setsar", 1)


def _tone_mapped(stream: Any, transfer: str, width: int, height: int) -> Any:
    """Scaled first: the float stage, by far the dearest, then has only the pixels that are shown.

    Every HDR file of this transfer is BT.2020, whether or not it says the rest.
    """
    stream = stream.filter("scale", width, height).filter(
        "setparams", color_primaries="bt2020", color_trc=transfer, colorspace="bt2020nc"
    )
    for name, options in _TONE_MAP:
        stream = stream.filter(name, **options)
    return stream


def for_jpeg(stream: Any, width: int | str, height: int) -> Any:
    """As JPEG readers take it: full range, BT.601."""
    return stream.filter(
        "scale", width, height, flags="bicubic", out_range="pc", out_color_matrix="bt601"
    ).filter("format", "yuvj420p")  # fmt: skip
