"""Dramatiq, which always acknowledges late; BENCH_LATE lets it look for dead workers often, after that many seconds."""

import os

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from tests.bench.peers.apps import ticket

_late = os.environ.get("BENCH_LATE")
_often = {"heartbeat_timeout": int(float(_late) * 1000), "maintenance_chance": 1_000_000} if _late else {}
dramatiq.set_broker(RedisBroker(url=os.environ["BENCH_REDIS"], **_often))


@dramatiq.actor
def work(number: int) -> None:
    ticket.work(number)


def send(number: int) -> None:
    work.send(number)
