"""Segments whose first picture is at zero: ffmpeg's HLS muxer starts it late by the delay of reordered frames.

With B-frames a picture is decoded some frames before it is shown, and a decode time may not be below zero, so the
muxer shows the first picture one or two frames late, by rung and frame rate differently, while the sound starts at
zero. Composition offsets may be negative in version 1 of the track run box (ISO/IEC 14496-12, 8.8.8), and CMAF
players read them; taking the delay off every offset, in place, puts picture and sound together on every rung.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

from workers.media.hls import read_playlist

_PARENTS = (b"moof", b"traf")
_DATA_OFFSET, _FIRST_FLAGS, _DURATION, _SIZE, _FLAGS, _COMPOSITION = 0x1, 0x4, 0x100, 0x200, 0x400, 0x800


def start_at_zero(playlist: Path) -> None:
    """Rewrite the segments of one video playlist, each in its place; sizes stay as they are."""
    delay: int | None = None
    for name, _ in read_playlist(playlist).segments:
        path = playlist.parent / name
        data = bytearray(path.read_bytes())
        if delay is None:
            delay = _first_shown(data)
        if not delay:
            return
        _show_earlier(data, delay)
        path.write_bytes(data)


def _first_shown(data: bytearray) -> int:
    """When the segment's first picture is shown, in the track's time units."""
    base = 0
    for kind, start, _ in _boxes(data, 0, len(data)):
        if kind == b"tfdt":
            version = data[start]
            base = int.from_bytes(data[start + 4 : start + (12 if version else 8)], "big")
        if kind == b"trun":
            offsets = [struct.unpack_from(">i", data, place)[0] for place in _offsets(data, start)]
            return base + offsets[0] if offsets else 0
    return 0


def _show_earlier(data: bytearray, delay: int) -> None:
    for kind, start, _ in list(_boxes(data, 0, len(data))):
        if kind == b"trun":
            data[start] = 1  # offsets are signed in this version
            for place in _offsets(data, start):
                struct.pack_into(">i", data, place, struct.unpack_from(">i", data, place)[0] - delay)
        elif kind == b"sidx":
            form = ">Q" if data[start] == 1 else ">I"
            earliest = struct.unpack_from(form, data, start + 12)[0]
            struct.pack_into(form, data, start + 12, max(0, earliest - delay))


def _boxes(data: bytearray, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """(type, start of content, end) of every box, going into those that hold track runs."""
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
            yield kind, start + head, start + size
        start += size


def _offsets(data: bytearray, start: int) -> list[int]:
    """Where the composition offset of each sample of a track run stands."""
    flags = int.from_bytes(data[start + 1 : start + 4], "big")
    if not flags & _COMPOSITION:
        return []
    count = struct.unpack_from(">I", data, start + 4)[0]
    first = start + 8 + 4 * bool(flags & _DATA_OFFSET) + 4 * bool(flags & _FIRST_FLAGS)
    before = 4 * sum(bool(flags & flag) for flag in (_DURATION, _SIZE, _FLAGS))
    return [first + sample * (before + 4) + before for sample in range(count)]
