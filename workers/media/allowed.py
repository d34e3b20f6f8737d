"""What a source may be: an allow-list of formats and protocols, and the options that hold ffmpeg and ffprobe to it."""

from shared.settings import Settings

FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,mpegvideo,avi,gif,flv,asf,mxf,dv,ogg,mp3,aac,wav,flac,"
    "aiff,caf,amr,m4v,nut,ivf,rm,w64,ac3,eac3,dts,h264,hevc"
)
"""Demuxers a source may use. Scripts and playlists (hls, concat, dash, image sequences) are never among them."""
PROTOCOLS = "http,tcp"
"""What a source is read by: the loopback reader, and nothing of the file system."""


def source_options(settings: Settings) -> dict[str, object]:
    """Input options that every look at a source must carry, for ffmpeg.input(url, **options)."""
    threads = {"threads": settings.ffmpeg_threads} if settings.ffmpeg_threads else {}
    return {
        "protocol_whitelist": PROTOCOLS,
        "format_whitelist": FORMATS,
        "max_pixels": settings.max_pixels,
        **threads,
    }


def probe_arguments(settings: Settings) -> list[str]:
    """The same for ffprobe's command line."""
    return [text for name, value in source_options(settings).items() for text in (f"-{name}", str(value))]


def output_options(settings: Settings) -> dict[str, object]:
    """Options of every output that is encoded."""
    return {"threads": settings.ffmpeg_threads} if settings.ffmpeg_threads else {}
