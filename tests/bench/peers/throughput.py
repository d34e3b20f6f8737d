"""No-op tickets a second: a backlog worked off by 1, 2 and 4 processes, and tickets worked off while they are sent."""

import statistics
import time
from collections import defaultdict
from pathlib import Path

from tests.bench.figure import Figure
from tests.bench.peers.kinds import COMPARED, OURS, OURS_BATCHED, Kind
from tests.bench.peers.peer import Peer, Sender
from tests.bench.peers.running import running

_LONGEST = 5.0
"""Seconds one backlog is worked off; the slowest need not come to its end."""

Rates = dict[str, dict[str, list[float]]]
"""What was measured -> queue -> tickets a second, each round's."""


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    """Round by round, all queues in each, since a shared machine is faster at one moment than at another."""
    tickets, rounds, counts = (200, 1, (2,)) if quick else (1000, 3, (1, 2, 4))
    rates: Rates = defaultdict(lambda: defaultdict(list))
    for number in range(rounds):
        for processes in counts:
            for place, kind in enumerate((*COMPARED, OURS_BATCHED)):
                run(folder / f"{number}-{processes}-{place}", kind, processes, tickets, rates)
    return [figure for what, of_queues in rates.items() for figure in _figures(what, of_queues)]


def run(folder: Path, kind: Kind, processes: int, tickets: int, rates: Rates) -> None:
    """Adds to `rates` how fast this queue, new, takes so many tickets and works them off."""
    many = f"{processes} process{'es' if processes > 1 else ''}"
    with running(folder, [kind]) as [(peer, _)], peer.sender() as sender:
        sent = sender.send(0, tickets)
        rates["sent by one process"][kind.name].append(tickets / (sent[-1] - sent[0]))
        with peer.working(processes):
            rates[f"backlog, {many}"][kind.name].append(_worked_off(peer, processes, tickets))
            rates[f"sent meanwhile, {many}"][kind.name].append(_meanwhile(peer, sender, tickets))


def _worked_off(peer: Peer, processes: int, tickets: int) -> float:
    opened = peer.open_gate(processes)
    while len(peer.lines()) < tickets and time.monotonic() < opened + _LONGEST:
        time.sleep(0.1)
    lines = peer.lines()
    return len(lines) / (max(line.ended for line in lines) - opened)


def _meanwhile(peer: Peer, sender: Sender, tickets: int) -> float:
    """Whoever has not finished the backlog yet goes on with it."""
    sent = sender.send(tickets, tickets)
    while len(peer.lines()) < 2 * tickets and time.monotonic() < sent[0] + _LONGEST:
        time.sleep(0.1)
    ended = [line.ended for line in peer.lines() if line.ended > sent[0]]
    return len(ended) / (max(ended) - sent[0]) if ended else 0.0


def _figures(what: str, of_queues: dict[str, list[float]]) -> list[Figure]:
    middle = {name: statistics.median(rates) for name, rates in of_queues.items()}
    mine = (OURS.name, OURS_BATCHED.name)
    best = max((name for name in middle if name not in mine), key=lambda name: middle[name])
    return [
        Figure(
            figure=f"{what}: {name}",
            value=round(rate, 1),
            unit="tickets/s",
            against=f"{best}, the best of the others: {_times(of_queues, name, best):.2f} times it" if name in mine else "",
            goal="more than every other" if name in mine else "",
            met=rate > middle[best] if name in mine else None,
        )
        for name, rate in middle.items()
    ]


def _times(of_queues: dict[str, list[float]], one: str, other: str) -> float:
    """Round by round, since a round's rates are of the same moments."""
    return statistics.median(a / b for a, b in zip(of_queues[one], of_queues[other], strict=True))
