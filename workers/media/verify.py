"""Is what ffmpeg made what was asked? Exit code 0 alone proves nothing: a short or empty file exits 0 as well."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shared.errors import Busy, Permanent
from workers.media.hls import read_playlist


def checked(folder: Path, rendition: Mapping[str, Any]) -> dict[str, Any]:
    """The rendition with what was measured of it: seconds, peak and average bits a second, codecs, channels.

    Raises Permanent if it holds nothing, Busy if its playlist names what is not there (work to do again).
    """
    playlist = read_playlist(folder / str(rendition["playlist"]))
    if not playlist.segments:
        raise Permanent("nothing in this file could be played")
    if not playlist.ended or not playlist.init:
        raise Busy(f"the playlist of {rendition['name']} was cut short")
    sizes = [(_size(folder / name), seconds) for name, seconds in playlist.segments]
    init = (folder / playlist.init).read_bytes()
    total = sum(seconds for _, seconds in sizes)
    measured = {
        "duration": round(total, 3),
        "bandwidth": max(math.ceil(size * 8 / max(seconds, 0.1)) for size, seconds in sizes),
        "average_bandwidth": math.ceil(sum(size for size, _ in sizes) * 8 / max(total, 0.1)),
        "codecs": _video_codec(init) if rendition["kind"] == "video" else "mp4a.40.2",
        "size": sum(size for size, _ in sizes) + len(init),
    }
    if rendition["kind"] == "audio":
        measured["channels"] = _channels(init)
    return {**rendition, **measured}


def early_end(renditions: Sequence[Mapping[str, Any]], duration: float) -> list[str]:
    """A sentence for the owner when the source stopped before the length it told (by over 0.5 s and 1 %)."""
    made = max(rendition["duration"] for rendition in renditions)
    if duration - made > max(0.5, duration * 0.01):
        return [f"the file ends early: {made:.1f} s of {duration:.1f} s"]
    return []


def _size(path: Path) -> int:
    if not path.is_file() or not path.stat().st_size:
        raise Busy(f"the segment {path.name} is missing or empty")
    return path.stat().st_size


def _video_codec(init: bytes) -> str:
    """RFC 6381 name from the AVC configuration record (ISO/IEC 14496-15, 5.3.3.1): profile, constraints, level."""
    place = init.find(b"avcC")
    if place < 0:
        raise Busy("the init section has no AVC configuration")
    return "avc1." + init[place + 5 : place + 8].hex()


def _channels(init: bytes) -> int:
    """Of the audio sample entry (ISO/IEC 14496-12, 12.2.3): 24 bytes after its type comes the channel count's end."""
    place = init.find(b"mp4a")
    return int.from_bytes(init[place + 20 : place + 22], "big") if place >= 0 else 2
