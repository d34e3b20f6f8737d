"""One process of a pool: `python -m workers.pool NAME QUEUE=WEIGHT... [--tasks N]`; SIGTERM drains it."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence

import structlog

from shared.errors import MatineeError
from shared.services import Services, open_services
from shared.settings import Settings
from shared.telemetry import configure_logging
from workers.listener import Listener
from workers.scratch import Scratch, remove_abandoned
from workers.sweep import claim_slot
from workers.ticker import Ticker

HOUSEKEEPING = "housekeeping"
_LAST_MOMENTS = 10.0
"""Seconds for stopped work to give its tickets back."""


class Pool:
    """A listener and the chores that keep its tickets its own."""

    def __init__(self, services: Services, queues: dict[str, int], tasks: int) -> None:
        self._services = services
        self._scratch = Scratch(services.scratch)
        self._listener = Listener(services, self._scratch, queues, tasks=tasks)
        self._hurry = threading.Event()
        lease = services.settings.lease
        self._tickers = [
            Ticker("renew", self._listener.keeper.renew_due, every=lease / 12),
            Ticker("overdue", self._listener.keeper.stop_overdue, every=min(1.0, lease / 20)),
            Ticker("cancelled", self._listener.stop_cancelled, every=1.0),
        ]
        if HOUSEKEEPING in queues:
            every = services.settings.sweep_every
            self._tickers.append(Ticker("sweep", lambda: claim_slot(services), every=every))

    def run(self) -> None:
        """Work until told to drain, then finish or give back what is in hand within the grace period."""
        remove_abandoned(self._services.scratch)
        for ticker in self._tickers:
            ticker.start()
        self._listener.start()
        self._listener.draining.wait()
        self._drain()
        for ticker in self._tickers:
            ticker.close()
        self._scratch.close()

    def drain(self) -> None:
        """No new tickets; asked a second time, no waiting either."""
        if self._listener.draining.is_set():
            self._hurry.set()
        self._listener.draining.set()

    def _drain(self) -> None:
        clock = self._services.clock
        until = clock.monotonic() + self._services.settings.grace
        while not self._listener.is_idle() and clock.monotonic() < until and not self._hurry.is_set():
            self._hurry.wait(0.05)
        self._listener.keeper.stop_all("the worker is stopping")
        if not self._listener.wait(_LAST_MOMENTS):
            structlog.get_logger().warning("work did not stop in time; its tickets come back when their leases end")


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        settings = Settings.from_environment(os.environ)
        configure_logging(settings.log_level, pool=options.name, process=os.getpid())
        services = open_services(settings, caller=options.name)
        pool = Pool(services, dict(options.queues), options.tasks)
    except MatineeError as error:
        print(error, file=sys.stderr)
        return 1
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: pool.drain())
    pool.run()
    counts = {f"{store} {kind}": count for (store, kind, _), count in sorted(services.meter.counts().items())}
    structlog.get_logger().info("drained", transactions=services.meter.total(), counts=counts)
    return 0


def _weighted(text: str) -> tuple[str, int]:
    queue, _, weight = text.partition("=")
    number = int(weight or 1)
    if number < 1:
        raise argparse.ArgumentTypeError(f"a queue's weight is 1 or more, not {weight}")
    return queue, number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m workers.pool", description="Runs one process of a worker pool.")
    parser.add_argument("name", help="what the pool is called in logs and counts")
    parser.add_argument("queues", nargs="+", type=_weighted, metavar="QUEUE=WEIGHT", help="the queues it serves")
    parser.add_argument("--tasks", type=int, default=1, metavar="N", help="tickets worked on at a time")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
