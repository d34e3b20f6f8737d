"""RQ; BENCH_LATE asks it to try again what a dead worker left."""

import os

from redis import Redis
from rq import Queue, Retry

from tests.bench.peers.apps import ticket

_queue = Queue("bench", connection=Redis.from_url(os.environ["BENCH_REDIS"]))
_retry = Retry(max=3) if os.environ.get("BENCH_LATE") else None


def send(number: int) -> None:
    _queue.enqueue(ticket.work, number, retry=_retry)
