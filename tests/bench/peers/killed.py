"""Workers killed in the middle of their tickets, and started again, some times over: what never ran, what ran twice."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tests.bench.figure import Figure
from tests.bench.peers.kinds import KILLED, OURS, Kind
from tests.bench.peers.peer import Peer
from tests.bench.peers.redis_server import Redis
from tests.bench.peers.running import running

_PROCESSES = 2
_KILLS = 3
_SECONDS = 0.1
"""Each ticket's work: long enough that every worker has one in hand when it is killed."""


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    """All queues at once, since their tickets only wait."""
    tickets, patience = (24, 8.0) if quick else (200, 100.0)
    with ExitStack() as stack:
        pairs = stack.enter_context(running(folder, KILLED))
        threads = stack.enter_context(ThreadPoolExecutor(len(pairs)))
        done = threads.map(lambda pair: _killed(pair[0], tickets, patience), pairs)
        return [
            _figure(peer.kind, counts, _held(peer, redis), patience)
            for (peer, redis), counts in zip(pairs, done, strict=True)
        ]


def _killed(peer: Peer, tickets: int, patience: float) -> Sequence[int]:
    """How often each ticket was done in the end."""
    with peer.sender() as sender:
        sender.send(0, tickets)
    for kill in range(1, _KILLS + 1):
        with peer.working(_PROCESSES, seconds=_SECONDS) as workers:
            peer.open_gate()
            peer.wait_for(tickets * kill // (_KILLS + 1), without_news=patience)
            workers.kill()
    with peer.working(_PROCESSES, seconds=_SECONDS):
        peer.open_gate()
        peer.wait_for(tickets, without_news=patience)
    done = peer.done()
    return [done[number] for number in range(tickets)]


def _held(peer: Peer, redis: Redis | None) -> int:
    return sum(int(redis.ask(*question.split()).lstrip(":")) for question in peer.kind.held) if redis else 0


def _figure(kind: Kind, done: Sequence[int], held: int, patience: float) -> Figure:
    lost, twice = done.count(0), sum(times > 1 for times in done)
    is_ours = kind.app == OURS.app
    return Figure(
        figure=f"workers killed {_KILLS} times: {kind.name}",
        value=lost,
        unit=f"of {len(done)} tickets never ran",
        against=f"{twice} ran twice; {held} still held when nothing had run for {patience:g} s",
        goal="none" if is_ours else "",
        met=lost == 0 if is_ours else None,
    )
