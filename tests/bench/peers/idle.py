"""Idle queues, one worker process each: what a minute without tickets asks for, and how soon a single one is begun."""

import json
import random
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from tests.bench.figure import Figure
from tests.bench.peers.kinds import COMPARED, HUEY, OURS
from tests.bench.peers.peer import Peer, Sender
from tests.bench.peers.redis_server import Redis
from tests.bench.peers.running import running

Asked = tuple[float, str]


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    """All at once, for idle queues hardly disturb one another.

    The first seconds do not count: until then some still wait longer and longer between two looks.
    """
    first, seconds, tickets, rest = (5.0, 10.0, 5, 0.5) if quick else (15.0, 60.0, 30, 2.0)
    counted = replace(HUEY, environment={"BENCH_STATEMENTS": str(folder / "statements")})
    kinds = [counted if kind is HUEY else kind for kind in COMPARED]
    with ExitStack() as stack:
        peers = stack.enter_context(running(folder, kinds))
        for peer, _ in peers:
            stack.enter_context(peer.working(1))
        senders = [stack.enter_context(peer.sender()) for peer, _ in peers]
        for (peer, _), sender in zip(peers, senders, strict=True):
            sender.send(0, 1)
            peer.open_gate(1)
        asked = _minute(folder, peers, first, seconds)
        waits = _waits(list(zip((peer for peer, _ in peers), senders, strict=True)), tickets, rest)
    return [*_costs(asked), *_latencies(waits)]


def _minute(folder: Path, peers: list[tuple[Peer, Redis | None]], first: float, seconds: float) -> dict[str, Asked]:
    of_ours = _asked_by_ours(folder, first, seconds)  # which takes long enough for the others to have calmed down
    counts = {peer.kind.name: _counter(folder, redis) for peer, redis in peers if peer.kind is not OURS}
    for _, redis in peers:
        if redis is not None:
            redis.reset()
    before = {name: count() for name, count in counts.items()}
    time.sleep(seconds)
    told = {peer.kind.name: redis.commands() if redis else "" for peer, redis in peers}
    asked = {name: ((count() - before[name]) * 60 / seconds, told[name]) for name, count in counts.items()}
    return {OURS.name: of_ours, **asked}


def _counter(folder: Path, redis: Redis | None) -> Callable[[], int]:
    statements = folder / "statements"
    return redis.requests if redis is not None else lambda: statements.stat().st_size


def _asked_by_ours(folder: Path, first: float, seconds: float) -> Asked:
    """What a longer life asked for more than a shorter: a worker says it in its last words."""
    with ThreadPoolExecutor(2) as threads:
        short, long = threads.map(lambda length: _life(folder / f"life-{length:g}", length), (first, first + seconds))
    more = {name: count - short.get(name, 0) for name, count in long.items() if count > short.get(name, 0)}
    return sum(more.values()) * 60 / seconds, ", ".join(f"{name} {count}" for name, count in more.items())


def _life(folder: Path, seconds: float) -> dict[str, int]:
    peer = Peer(OURS, folder, {})
    with peer.sender() as sender, peer.working(1):
        sender.send(0, 1)
        peer.open_gate(1)
        time.sleep(seconds)
    [words] = [json.loads(line) for line in (folder / "log").read_text().splitlines() if '"drained"' in line]
    operations: dict[str, int] = words["operations"]
    return operations


def _waits(pairs: list[tuple[Peer, Sender]], tickets: int, rest: float) -> dict[str, list[float]]:
    """Seconds from a send to the handler's beginning, one ticket at a time, each after a rest."""
    waits: dict[str, list[float]] = {peer.kind.name: [] for peer, _ in pairs}
    for number in range(1, tickets + 1):
        time.sleep(rest * random.uniform(0.7, 1.3))
        for peer, sender in pairs:
            sent = sender.send(number, 1)[0]
            peer.wait_for(number + 1)
            waits[peer.kind.name].append(peer.lines()[-1].began - sent)
    return waits


def _costs(asked: dict[str, Asked]) -> list[Figure]:
    least = min(cost for name, (cost, _) in asked.items() if name != OURS.name)
    return [
        Figure(
            figure=f"an idle minute of one process: {name}",
            value=round(cost, 1),
            unit="requests",
            against=told,
            goal="fewer than any other" if name == OURS.name else "",
            met=cost < least if name == OURS.name else None,
        )
        for name, (cost, told) in asked.items()
    ]


def _latencies(waits: dict[str, list[float]]) -> list[Figure]:
    return [
        Figure(
            figure=f"idle pick-up {which}: {name}",
            value=round(_percentile(seconds, percent) * 1000, 1),
            unit="ms",
            against=f"{len(seconds)} tickets, one at a time",
        )
        for which, percent in (("p50", 50), ("p99", 99))
        for name, seconds in waits.items()
    ]


def _percentile(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]
