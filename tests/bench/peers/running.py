"""Every queue compared, empty, each with a Redis of its own where it wants one."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.bench.peers.kinds import Kind
from tests.bench.peers.peer import Peer
from tests.bench.peers.redis_server import Redis, redis_server


@contextmanager
def running(folder: Path, kinds: Sequence[Kind]) -> Iterator[list[tuple[Peer, Redis | None]]]:
    with ExitStack() as stack:
        yield [_one(stack, folder / str(number), kind) for number, kind in enumerate(kinds)]


def _one(stack: ExitStack, folder: Path, kind: Kind) -> tuple[Peer, Redis | None]:
    redis = stack.enter_context(redis_server(folder / "redis")) if kind.in_redis else None
    return Peer(kind, folder, {"BENCH_REDIS": redis.url} if redis else {}), redis
