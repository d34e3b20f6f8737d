"""Matinee's own: the embedded store, and `python -m workers.pool` as it is but for what an ingest ticket does."""

import os
import sys
from functools import cache
from typing import Any

import workers.handlers.ingest
import workers.pool
from shared.services import Services, open_services
from shared.settings import Settings
from shared.tickets import Ingest
from tests.bench.peers.apps import ticket


def send(number: int) -> None:
    services = _services()
    services.tickets.send(Ingest(made=services.clock.now(), video="bench", generation=number))


@cache
def _services() -> Services:
    return open_services(Settings.from_environment(os.environ), caller="bench")


def _handle(asked: Ingest, *_: Any) -> None:
    ticket.work(asked.generation)


if __name__ == "__main__":
    workers.handlers.ingest.handle = _handle
    sys.exit(workers.pool.main(sys.argv[1:]))
