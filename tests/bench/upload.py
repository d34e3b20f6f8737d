"""Upload through the real web server, against writing the same bytes straight to the same disk."""

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.figure import Figure
from tests.bench.site import AT_ONCE, a_site

GOAL = 0.4
"""Client, server and disk share two cores here; every byte is hashed twice, crosses a socket and is fsynced block by
block before it is acknowledged. Two fifths of the bare disk leaves the network the bottleneck for nearly anybody."""

_PIECE = 8 * 1024**2


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    size, rounds = (128, 3) if quick else (1024, 5)
    clip = noise(folder / "noise.bin", size)
    with a_site(folder / "data") as (_, client):
        client.upload(noise(folder / "warm-up.bin", 16))
        pairs = [
            (_rate(size, lambda: client.upload(clip)), _rate(size, lambda: _straight(clip, folder / "straight.bin")))
            for _ in range(rounds)
        ]
    ours = statistics.median(uploaded for uploaded, _ in pairs)
    straight = statistics.median(written for _, written in pairs)
    return [
        Figure(
            figure=f"upload, {AT_ONCE} blocks at a time",
            value=round(ours, 1),
            unit="MB/s",
            against=f"straight to disk with fsync: {straight:.1f} MB/s",
            goal=f"at least {GOAL:g} of it",
            met=ours >= GOAL * straight,
        )
    ]


def _rate(size: int, work: Callable[[], object]) -> float:
    """MB/s, 1 MB = 10^6 bytes."""
    started = time.perf_counter()
    work()
    return size * 1.048576 / (time.perf_counter() - started)


def noise(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        for _ in range(size):
            file.write(os.urandom(1024**2))
    return path


def _straight(source: Path, target: Path) -> None:
    with source.open("rb") as data, target.open("wb") as copy:
        while piece := data.read(_PIECE):
            copy.write(piece)
        copy.flush()
        os.fsync(copy.fileno())
    target.unlink()
