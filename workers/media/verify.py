"""Is what ffmpeg made what was asked? Exit code 0 alone proves nothing: a short or empty file exits 0 as well."""

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shared.errors import Permanent
from workers.media.hls import MediaPlaylist, read_playlist

_TOLERANCE = 0.5
_SHARE = 0.01
_PARENTS = (b"moof", b"traf")


class Incomplete(Exception):
    """What was made is not whole, and the source is not to blame. A try that counts: another one may do better."""


def checked(folder: Path, rendition: Mapping[str, Any]) -> dict[str, Any]:
    """The rendition with what was measured of it: seconds, bytes, peak and average bits a second, codecs.

    Raises Permanent if it holds nothing or only a moment, Incomplete if its playlist names what is not there.
    """
    playlist = read_playlist(folder / str(rendition["playlist"]))
    if not playlist.segments:
        raise Permanent("nothing in this file could be played")
    if not playlist.ended or not playlist.init:
        raise Incomplete(f"the playlist of {rendition['name']} was cut short")
    init = (folder / playlist.init).read_bytes()
    if rendition["kind"] == "video":
        _check_frames(folder, playlist, float(rendition["frame_rate"]))
    sizes = [(_size(folder / name), seconds) for name, seconds in playlist.segments]
    total = sum(seconds for _, seconds in sizes)
    if not total:
        raise Permanent("this file is too short to be played")
    return {
        **rendition,
        "duration": round(total, 3),
        "bandwidth": peak_bandwidth(sizes),
        "average_bandwidth": math.ceil(sum(size for size, _ in sizes) * 8 / total),
        "codecs": _video_codec(init) if rendition["kind"] == "video" else "mp4a.40.2",
        "size": sum(size for size, _ in sizes) + len(init),
    }


def is_short(made: float, expected: float) -> bool:
    """By more than half a second and more than a hundredth."""
    return expected - made > max(_TOLERANCE, expected * _SHARE)


def peak_bandwidth(sizes: Sequence[tuple[int, float]]) -> int:
    """The most bits a second over neighbouring segments that together last 0.5 to 1.5 of the longest (RFC 8216, 4.1).

    So that a last segment of one frame, all key frame, counts together with its neighbour.
    """
    longest = max(seconds for _, seconds in sizes)
    peak = 0.0
    for first in range(len(sizes)):
        size, seconds = 0, 0.0
        for more, longer in sizes[first:]:
            size, seconds = size + more, seconds + longer
            if seconds > 1.5 * longest:
                break
            if seconds >= 0.5 * longest:
                peak = max(peak, size * 8 / seconds)
    return math.ceil(peak)


def _check_frames(folder: Path, playlist: MediaPlaylist, rate: float) -> None:
    """Each segment holds as many frames as its length in the playlist says."""
    for name, seconds in playlist.segments:
        _size(folder / name)
        frames = sum(_sample_counts((folder / name).read_bytes()))
        if abs(frames - seconds * rate) > 1.5:
            raise Incomplete(f"the segment {name} holds {frames} frames where {seconds * rate:.0f} were due")


def _sample_counts(data: bytes) -> Iterator[int]:
    """Of every track run (ISO/IEC 14496-12, 8.8.8)."""
    runs = (start for kind, start in _boxes(data, 0, len(data)) if kind == b"trun")
    return (struct.unpack_from(">I", data, start + 4)[0] for start in runs)


def _boxes(data: bytes, start: int, end: int) -> Iterator[tuple[bytes, int]]:
    """(type, start of content) of every box, going into those that hold track runs."""
    while start + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, start)
        head = 8
        if size == 1:
            size, head = struct.unpack_from(">Q", data, start + 8)[0], 16
        if size < head:
            return
        if kind in _PARENTS:
            yield from _boxes(data, start + head, start + size)
        else:
            yield kind, start + head
        start += size


def _size(path: Path) -> int:
    if not path.is_file() or not path.stat().st_size:
        raise Incomplete(f"the segment {path.name} is missing or empty")
    return path.stat().st_size


def _video_codec(init: bytes) -> str:
    """RFC 6381 name from the AVC configuration record (ISO/IEC 14496-15, 5.3.3.1): profile, constraints, level."""
    place = init.find(b"avcC")
    if place < 0:
        raise Incomplete("the init section has no AVC configuration")
    return "avc1." + init[place + 5 : place + 8].hex()
