"""One process of a pool: `python -m workers.pool NAME QUEUE=WEIGHT... [--tasks N]`; SIGTERM drains it."""

import argparse
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import structlog

from shared.bill import Prices
from shared.errors import MatineeError
from shared.metrics import DIRECTORY, MetricsServer
from shared.queues import MAX_BATCH
from shared.services import Services, metrics_folder, open_services
from shared.settings import Settings
from shared.telemetry import configure_logging, tell
from workers.crew import Crew
from workers.figures import counting, gauges
from workers.handlers.table import find_handlers
from workers.lease import LeaseKeeper
from workers.ledger import EVERY as LEDGER_EVERY
from workers.ledger import Ledger
from workers.lines import note
from workers.listener import Listener
from workers.news import Watcher, telling
from workers.report import Report, Tally
from workers.scaling import MOST_TASKS, Rules, RulesFile, fixed
from workers.scratch import Scratch, remove_abandoned
from workers.sentry import Sentry
from workers.signals import EndSignals
from workers.sweep import claim_slot, prepare
from workers.ticker import Ticker
from workers.watch import stop_unwanted

HOUSEKEEPING = "housekeeping"
_PR_SET_PDEATHSIG = 1
_WATCH_EVERY = 1.0
_LOOK_AT_DEPTH_EVERY = 5.0
_TO_CLOSE = 2.0
_TO_STOP = 10.0
"""Seconds a handler that was told to stop has before the process ends without it."""


class Pool:
    """A crew around one listener, the threads that keep its leases, and the way it ends."""

    def __init__(
        self,
        name: str,
        services: Services,
        queues: dict[str, int],
        signals: EndSignals,
        *,
        rules: Callable[[], Rules],
        batch: int = 1,
    ) -> None:
        self._name = name
        self._queues = queues
        self._started = services.clock.now()
        self._services = services
        self._signals = signals
        self._scratch = Scratch(services.scratch)
        self._tally = Tally()
        self._ledger = Ledger(services, name, self._tally)
        watchers: list[Watcher] = [note, self._tally]
        if services.metrics is not None:
            watchers.append(counting(services.metrics))
        tell = telling(watchers)
        self._keeper = LeaseKeeper(tell)
        listener = Listener(
            services,
            queues,
            find_handlers(),
            keeper=self._keeper,
            scratch=self._scratch,
            needs_room=set(queues) != {HOUSEKEEPING},  # housekeeping makes room, so it never waits for any
            batch=batch,
            tell=tell,
        )
        ear = services.bus.ear(services.account, queues)
        self._crew = Crew(listener, rules, tell, may_sleep=ear.heard_all_since if ear else lambda _: False)
        self._sentry = Sentry(ear, self._crew) if ear else None
        self._tickers = self._make_tickers(HOUSEKEEPING in queues)
        self._told: Report | None = None

    def run(self) -> bool:
        """Work until a signal tells it to drain, a second one without the grace; True if every task ended by itself."""
        for ticker in self._tickers:
            ticker.start()
        if self._sentry is not None:
            self._sentry.start()
        self._crew.start()
        while not self._signals.wait(1.0):
            self._show_life()
            if self._crew.failed.is_set():
                self._drain()
                return False
        return self._drain()

    def _drain(self) -> bool:
        """Whatever is not finished within the grace is given back, not counted."""
        structlog.get_logger().info("draining")
        if self._sentry is not None:
            self._sentry.close()
        self._crew.drain()
        self._wait(self._services.settings.grace)
        self._keeper.stop_all("the worker is draining")
        self._wait(_TO_STOP)
        for ticker in self._tickers:
            ticker.close()
        if self._sentry is not None:
            self._sentry.join(_TO_CLOSE)
        with suppress(MatineeError):  # then its last half minute is not counted
            self._ledger.write()
        self._scratch.close()
        return not self._crew.is_busy()

    def _wait(self, seconds: float) -> None:
        until = self._services.clock.monotonic() + seconds
        while self._crew.is_busy() and self._services.clock.monotonic() < until:
            self._show_life()
            if self._signals.wait(0.05):
                return

    def _show_life(self) -> None:
        tally = self._tally
        report = Report(
            pid=os.getpid(),
            pool=self._name,
            queues=tuple(self._queues),
            started=self._started,
            tasks=self._crew.tasks(),
            tickets=tuple(ticket.id for held in self._keeper.held() for ticket in held.tickets),
            done=tally.outcomes["done"],
            retried=tally.outcomes["retried"],
            set_aside=tally.outcomes["set aside"],
            tries=dict(tally.tries),
            operations=self._services.meter.total(),
            seconds={kind: round(seconds, 3) for kind, seconds in tally.seconds.items()},
        )
        if report != self._told:
            self._told = report
            self._scratch.say(msgspec.json.encode(report))
        self._scratch.show_life()

    def _make_tickers(self, sweeps: bool) -> list[Ticker]:
        settings = self._services.settings
        tickers = [
            Ticker("renew leases", self._keeper.renew_due, every=settings.lease / 30),
            Ticker("stop the overdue", self._keeper.stop_overdue, every=min(1.0, settings.lease / 30)),
            Ticker("stop the unwanted", lambda: stop_unwanted(self._services, self._keeper), every=_WATCH_EVERY),
            Ticker("look at the depth", self._crew.look_at_depth, every=_LOOK_AT_DEPTH_EVERY),
            Ticker("write the ledger", self._ledger.write, every=LEDGER_EVERY),
        ]
        if sweeps:
            prepare(self._services)
            tickers.append(Ticker("start sweeps", lambda: claim_slot(self._services), every=settings.sweep_every / 2))
        return tickers


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    if options.die_with_parent:
        _die_with_parent(options.die_with_parent)
    try:
        settings = Settings.from_environment(os.environ)
        configure_logging(settings.log_level, process="worker", pool=options.name, pid=os.getpid())
        rules = RulesFile(options.rules, options.name).current if options.rules else lambda: fixed(options.tasks)
        services = open_services(settings, caller=f"pool:{options.name}")
        remove_abandoned(services.scratch)
        if settings.metrics:
            os.environ[DIRECTORY] = str(metrics_folder(settings))
            MetricsServer(settings.metrics, metrics_folder(settings), gauges(services)).keep_trying()
        pool = Pool(options.name, services, dict(options.queues), EndSignals(), rules=rules, batch=options.batch)
    except MatineeError as error:
        print(f"cannot start: {error}", file=sys.stderr)
        return 2
    structlog.get_logger().info("listening", queues=dict(options.queues), most_tasks=rules().most())
    ended = pool.run()
    structlog.get_logger().info("drained", ended=ended, **tell(services.meter, Prices.read(settings.prices)))
    return 0 if ended else 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workers.pool", description="One process of a worker pool.")
    parser.add_argument("name", help="the pool's name, for logs and counts")
    parser.add_argument("queues", nargs="+", type=_weighted, metavar="QUEUE=WEIGHT", help="the queues it serves")
    parser.add_argument("--tasks", type=_tasks, default=1, metavar="N", help="dequeue tasks while there is work")
    parser.add_argument(
        "--rules", type=Path, metavar="FILE", help="a TOML file whose table of the pool's name says `tasks`, by depth"
    )
    parser.add_argument(
        "--batch", type=_batch, default=1, metavar="N",
        help=f"tickets each task takes at a time and works side by side, 1 to {MAX_BATCH}",
    )  # fmt: skip
    parser.add_argument(
        "--die-with-parent", type=int, default=0, metavar="PID", help="drain when the process PID, our parent, ends"
    )
    return parser.parse_args(arguments)


def _tasks(text: str) -> int:
    return _between(text, MOST_TASKS)


def _batch(text: str) -> int:
    return _between(text, MAX_BATCH)


def _between(text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"a whole number from 1 to {most}, not {text!r}")
    return int(text)


def _weighted(text: str) -> tuple[str, int]:
    queue, _, weight = text.partition("=")
    number = int(weight or 1)
    if number < 1:
        raise argparse.ArgumentTypeError(f"a queue's weight is 1 or more, not {weight}")
    return queue, number


def _die_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("the parent has gone")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
