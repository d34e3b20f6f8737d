"""The embedded queue under several processes, each sending, receiving and deleting as fast as it can."""

import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shared.clock import SystemClock
from shared.local.queues import LocalQueues
from tests.bench.figure import Figure

KEEPS = 0.75
"""All writers share one file, so more of them are hardly faster; but they must not stand in each other's way."""
LATENCY = 0.25
"""Seconds; a listener renews a 30 s lease every 10 s, so a store this quick never loses one by waiting."""

_QUEUE = "bench"


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    seconds = 3.0 if quick else 10.0
    bare = _bare_commits(folder / "bare", seconds / 2)
    figures: list[Figure] = []
    alone = 0.0
    for processes in (1, 2, 4, 8):
        rate, latencies = _run(folder / f"queues-{processes}.db", processes, seconds)
        alone = alone or rate
        figures += _figures(processes, rate, latencies, alone, bare)
    return figures


def _figures(processes: int, rate: float, latencies: list[float], alone: float, bare: float) -> list[Figure]:
    who = f"{processes} process{'es' if processes > 1 else ''}"
    cuts = statistics.quantiles(latencies, n=100)
    return [
        Figure(
            figure=f"queue, {who}",
            value=round(rate, 1),
            unit="messages/s",
            against=f"1 process: {alone:.1f}; bare appends with fsync: {bare:.1f}/s",
            goal=f"at least {KEEPS:g} of 1 process" if processes > 1 else "",
            met=rate >= KEEPS * alone if processes > 1 else None,
        ),
        Figure(figure=f"receive p50, {who}", value=round(cuts[49] * 1000, 2), unit="ms"),
        Figure(
            figure=f"receive p99, {who}",
            value=round(cuts[98] * 1000, 2),
            unit="ms",
            goal=f"at most {LATENCY * 1000:g} ms",
            met=cuts[98] <= LATENCY,
        ),
    ]


def _run(path: Path, processes: int, seconds: float) -> tuple[float, list[float]]:
    """Messages sent, received and deleted a second by all together, and how long each receive took."""
    LocalQueues(path, SystemClock()).ensure(_QUEUE)
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(processes), context.Queue()
    workers = [
        context.Process(target=_work, args=(path, start, seconds, results), daemon=True) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    done = [results.get(timeout=seconds + 120) for _ in workers]
    for worker in workers:
        worker.join()
    return sum(len(latencies) for latencies in done) / seconds, [one for latencies in done for one in latencies]


def _work(path: Path, start: Any, seconds: float, results: Any) -> None:
    queues = LocalQueues(path, SystemClock())
    latencies = []
    start.wait()
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        queues.send(_QUEUE, '{"schema": "matinee.ticket", "version": 1, "kind": "index"}')
        before = time.perf_counter()
        [message] = queues.receive(_QUEUE) or [None]
        latencies.append(time.perf_counter() - before)
        if message is not None:
            queues.delete(_QUEUE, message.id, message.receipt or "")
    results.put(latencies)


def _bare_commits(path: Path, seconds: float) -> float:
    """What the disk allows: appends of one page, each made durable, a second."""
    with path.open("wb", buffering=0) as file:
        return _per_second(lambda: (file.write(b"x" * 4096), os.fsync(file.fileno())), seconds)


def _per_second(work: Callable[[], object], seconds: float) -> float:
    started, count = time.perf_counter(), 0
    while time.perf_counter() - started < seconds:
        work()
        count += 1
    return count / (time.perf_counter() - started)
