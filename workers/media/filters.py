"""The filters that make any source look right: progressive, SDR, square pixels, even sizes, a constant rate."""

from typing import Any

from workers.media.probe import VideoStream

_TONE_MAP = (
    ("zscale", {"t": "linear", "npl": 100}),
    ("format", {"pix_fmts": "gbrpf32le"}),
    ("zscale", {"p": "bt709"}),
    ("tonemap", {"tonemap": "hable", "desat": 0}),
    ("zscale", {"t": "bt709", "m": "bt709", "r": "tv"}),
)


def upright(stream: Any, video: VideoStream, width: int, height: int) -> Any:
    """Deinterlaced if it needs it, tone-mapped if HDR, `width` x `height` with square pixels, 8-bit 4:2:0, BT.709."""
    if video.interlaced:
        stream = stream.filter("bwdif", mode="send_frame", deint="interlaced")
    if video.hdr:
        # Scaling first keeps the float stage, by far the dearest, to the pixels that are shown.
        stream = stream.filter("scale", width, height)
        for name, options in _TONE_MAP:
            stream = stream.filter(name, **options)
    else:
        stream = stream.filter("scale", width, height, out_range="tv", flags="bicubic")
    return tagged(stream.filter("setsar", 1).filter("format", "yuv420p"))


def tagged(stream: Any) -> Any:
    """Say what the colours are; ffmpeg 8 and later take it from the frames, not from output options."""
    return stream.filter(
        "setparams", color_primaries="bt709", color_trc="bt709", colorspace="bt709", range="tv"
    )
