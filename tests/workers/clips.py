"""Tiny real clips."""

import subprocess
import tempfile
from functools import cache
from pathlib import Path

import imageio_ffmpeg


@cache
def a_clip(*, seconds: float = 1.0, width: int = 320, height: int = 180, sound: bool = True) -> bytes:
    """A fragmented MP4 with a moving picture and, unless silent, a tone."""
    picture = ["-f", "lavfi", "-i", f"testsrc2=s={width}x{height}:r=25:d={seconds}"]
    tone = ["-f", "lavfi", "-i", f"sine=440:d={seconds}", "-c:a", "aac"] if sound else []
    coding = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"]
    shape = ["-movflags", "frag_keyframe+empty_moov", "-f", "mp4", "pipe:1"]
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", *picture, *tone, *coding, *shape]
    return subprocess.run(command, capture_output=True, check=True).stdout


@cache
def a_long_clip(*, seconds: int = 300) -> bytes:
    """640x360, cheap to make (a second repeated) and long to encode."""
    with tempfile.TemporaryDirectory() as folder:
        second = Path(folder) / "second.mp4"
        second.write_bytes(a_clip(width=640, height=360))
        loop = ["-stream_loop", str(seconds - 1), "-i", str(second), "-c", "copy"]
        shape = ["-movflags", "frag_keyframe+empty_moov", "-f", "mp4", "pipe:1"]
        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", *loop, *shape]
        return subprocess.run(command, capture_output=True, check=True).stdout


@cache
def a_clip_cut_short(*, seconds: float = 4.0, share: float = 0.6) -> bytes:
    """An MP4 whose header, which comes first, promises all its seconds; of its bytes only a share is there."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.mp4"
        copy = ["-f", "mp4", "-i", "pipe:0", "-c", "copy", "-movflags", "+faststart", str(whole)]
        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", *copy]
        subprocess.run(command, input=a_clip(seconds=seconds), check=True)
        content = whole.read_bytes()
    return content[: int(len(content) * share)]
