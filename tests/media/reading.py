"""What the real ffmpeg and ffprobe say of our own files."""

import json
import re
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shared.settings import Settings
from workers.media.ffmpeg import ffmpeg_path, ffprobe_path


def ffmpeg(*arguments: str) -> bytes:
    command = [ffmpeg_path(Settings()), "-hide_banner", "-loglevel", "error", "-y", *arguments]
    return subprocess.run(command, check=True, capture_output=True, timeout=120).stdout


def described(path: Path, *more: str) -> dict[str, Any]:
    command = [ffprobe_path(Settings()), "-v", "error", "-show_streams", "-show_format", *more, "-of", "json", str(path)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout))


def summary(path: Path) -> dict[str, object]:
    """The first picture as `v.*`, the first sound as `a.*`, the first frame as `frame.*`, the file as `format.*`."""
    said = described(path, "-show_frames", "-read_intervals", "%+#1")
    out: dict[str, object] = {"streams": len(said["streams"])}
    for kind, short in (("video", "v"), ("audio", "a")):
        for stream in [stream for stream in said["streams"] if stream["codec_type"] == kind][:1]:
            out |= {f"{short}.{key}": value for key, value in {**stream, **stream["disposition"]}.items()}
    for frame in said.get("frames", [])[:1]:
        out |= {f"frame.{key}": value for key, value in frame.items()}
    for key, value in said["format"].items():
        out[f"format.{key}"] = round(float(value), 1) if key == "duration" else value
    if float(said["format"].get("start_time", 0)) > 53000:
        out["format.starts_after"] = 53000
    return out


def shown_times(path: Path) -> list[float]:
    """When each frame of the picture is shown, in order."""
    packets = described(path, "-select_streams", "v", "-show_entries", "packet=pts_time")["packets"]
    return sorted(float(packet["pts_time"]) for packet in packets)


def key_frame_times(path: Path) -> list[float]:
    packets = described(path, "-select_streams", "v", "-show_entries", "packet=pts_time,flags")["packets"]
    times = [float(packet["pts_time"]) for packet in packets if "K" in packet["flags"]]
    return [round(time - times[0], 4) for time in times]


def pixel(path: Path, *, at: float = 0.0) -> tuple[int, int, int]:
    """The colour in the middle, red green blue."""
    raw = ffmpeg(
        "-ss", str(at), "-i", str(path), "-frames:v", "1", "-vf", "crop=2:2,format=gbrp,format=rgb24",
        "-f", "rawvideo", "-",
    )  # fmt: skip
    return raw[0], raw[1], raw[2]


def brightness(path: Path) -> list[int]:
    """The mean grey of every frame, 0 to 255."""
    return list(ffmpeg("-i", str(path), "-an", "-vf", "scale=1:1:flags=area,format=gray", "-fps_mode", "passthrough",
                       "-f", "rawvideo", "-"))  # fmt: skip


def samples(path: Path) -> list[float]:
    """The first channel of the sound as it is decoded, -1 to 1 and beyond, at its own rate."""
    raw = ffmpeg("-i", str(path), "-vn", "-af", "pan=mono|c0=c0", "-f", "f32le", "-")
    return list(struct.unpack(f"<{len(raw) // 4}f", raw))


def loudness(path: Path, start: float, seconds: float) -> float:
    """Mean level in dBFS."""
    command = [ffmpeg_path(Settings()), "-hide_banner", "-i", str(path), "-ss", str(start), "-t", str(seconds),
               "-af", "volumedetect", "-f", "null", "-"]  # fmt: skip
    text = subprocess.run(command, check=True, capture_output=True, timeout=60).stderr.decode()
    found = re.search(r"mean_volume: (-?[\d.]+|-inf) dB", text)
    return float(found.group(1)) if found else float("-inf")


def first_shown(segment: Path) -> int:
    """When a segment's first picture is shown, in the track's units, read straight from its boxes.

    ffprobe cannot tell: it adds the largest negative composition offset to every time it prints.
    """
    data = segment.read_bytes()
    begins = next(_number(data, at + 4, 8 if data[at] else 4) for at in _contents(data, b"tfdt"))
    run = next(_contents(data, b"trun"))
    flags, count = _number(data, run + 1, 3), _number(data, run + 4, 4)
    at = run + 8 + 4 * bool(flags & 0x1) + 4 * bool(flags & 0x4)
    fields = [flag for flag in (0x100, 0x200, 0x400, 0x800) if flags & flag]
    length, times = _default_length(data), []
    for sample in range(count):
        row = dict(zip(fields, struct.unpack_from(f">{len(fields)}i", data, at + sample * 4 * len(fields)), strict=True))
        times.append(begins + row.get(0x800, 0))
        begins += row.get(0x100, length)
    return min(times)


def _default_length(data: bytes) -> int:
    head = next(_contents(data, b"tfhd"))
    flags = _number(data, head + 1, 3)
    return _number(data, head + 8 + 8 * bool(flags & 0x1) + 4 * bool(flags & 0x2), 4)


def _contents(data: bytes, kind: bytes) -> Iterator[int]:
    """Where the content of each box of a kind starts."""
    at = data.find(kind)
    while at >= 0:
        yield at + 4
        at = data.find(kind, at + 4)


def _number(data: bytes, at: int, length: int) -> int:
    return int.from_bytes(data[at : at + length], "big")
