"""The worst wait of any caller while eight processes keep the embedded queue as busy as they can."""

import multiprocessing
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from shared.clock import SystemClock
from shared.local.queues import LocalQueues
from tests.bench.figure import Figure

WORST = 0.050
"""Seconds."""

_QUEUE = "bench"
_PROCESSES = 8
_LEASE = timedelta(seconds=30)
Result = TypeVar("Result")


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    path = folder / "queues.db"
    folder.mkdir(parents=True)
    LocalQueues(path, SystemClock()).ensure(_QUEUE)
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(_PROCESSES), context.Queue()
    seconds = 3.0 if quick else 30.0
    callers = [
        context.Process(target=_call, args=(path, start, seconds, results), daemon=True) for _ in range(_PROCESSES)
    ]
    for caller in callers:
        caller.start()
    waits: dict[str, list[float]] = defaultdict(list)
    for _ in callers:
        for operation, measured in results.get(timeout=seconds + 120).items():
            waits[operation] += measured
    for caller in callers:
        caller.join()
    return [_figure(operation, measured, seconds) for operation, measured in waits.items()]


def _figure(operation: str, waits: list[float], seconds: float) -> Figure:
    waits.sort()
    p50, p999 = (waits[int(len(waits) * part)] * 1000 for part in (0.5, 0.999))
    return Figure(
        figure=f"worst {operation}, {_PROCESSES} processes",
        value=round(waits[-1] * 1000, 1),
        unit="ms",
        against=f"p50 {p50:.1f} ms, p99.9 {p999:.1f} ms of {len(waits)} in {seconds:g} s",
        goal=f"below {WORST * 1000:g} ms",
        met=waits[-1] < WORST,
    )


def _call(path: Path, start: Any, seconds: float, results: Any) -> None:
    """Send, receive, renew, delete, and again; how long each call took, by operation."""
    queues = LocalQueues(path, SystemClock())
    waits: dict[str, list[float]] = defaultdict(list)

    def timed(operation: str, call: Callable[[], Result]) -> Result:
        before = time.perf_counter()
        try:
            return call()
        finally:
            waits[operation].append(time.perf_counter() - before)

    start.wait()
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        timed("send", lambda: queues.send(_QUEUE, '{"schema": "matinee.ticket", "version": 1, "kind": "index"}'))
        for message in timed("receive", lambda: queues.receive(_QUEUE)):
            taken, receipt = message.id, message.receipt or ""
            fresh = timed("renewal", lambda: queues.update(_QUEUE, taken, receipt, visibility=_LEASE))  # noqa: B023
            timed("delete", lambda: queues.delete(_QUEUE, taken, fresh))  # noqa: B023
    results.put(dict(waits))
