"""`infra/scaler [--data DIR] [--host H] [--port N]`: serves what each pool should have, to whoever sets it."""

import argparse
import signal
import sys
import threading
from collections.abc import Sequence

import structlog

from infra import address
from infra.commands.site import Site
from infra.pools import PoolsFile, pools_file
from infra.scaling.scaler import Scaler
from infra.scaling.serving import Answers, server
from shared.errors import MatineeError
from shared.services import Services
from shared.telemetry import configure_logging
from workers.ledger import LEDGER, read_ledger


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        site = Site(options.data, make=True, caller="scaler")
        configure_logging(site.settings.log_level, process="scaler")
        pools = PoolsFile(pools_file(site.settings), lambda sentence: structlog.get_logger().warning(sentence))
        return _serve(site.services, pools, options.host, options.port)
    except MatineeError as error:
        print(error, file=sys.stderr)
        return 1


def _serve(services: Services, pools: PoolsFile, host: str, port: int) -> int:
    """Until SIGTERM or SIGINT."""
    scaler, ending = _scaler(services), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ending.set())
    with address.listen(host, port) as listener:
        serving = server(listener, Answers(scaler, services.meter, services.clock.monotonic))
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        print(f"The wanted sizes are at {address.url_of(listener)}/pools, for Prometheus at /metrics.", flush=True)
        sizes: dict[str, int] = {}
        while not ending.is_set():
            look(scaler, pools, sizes)
            ending.wait(services.settings.scale_every)
        serving.shutdown()
    return 0


def _scaler(services: Services) -> Scaler:
    services.tables.ensure_table(LEDGER)
    return Scaler(
        services.queues, services.clock, ledger=lambda pool: read_ledger(services.tables, services.clock, pool)
    )


def look(scaler: Scaler, pools: PoolsFile, sizes: dict[str, int]) -> None:
    """At each pool once. What was wanted is taken to be what there is: whoever sets it tells nothing back."""
    for pool in pools.current():
        decision = scaler.look(pool, sizes.get(pool.name))
        if decision.size != sizes.get(pool.name):
            structlog.get_logger().info("wanted", pool=pool.name, size=decision.size, why=decision.why)
        if scaler.looked()[pool.name].read_at is not None:
            sizes[pool.name] = decision.size


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="infra/scaler", description="Serves how many processes each pool should have, for KEDA and Prometheus."
    )
    parser.add_argument("--data", metavar="DIR", help="the site's data folder (default: data/ in the checkout)")
    parser.add_argument("--host", metavar="H", default="127.0.0.1", help="default: 127.0.0.1; 0.0.0.0 for all")
    parser.add_argument("--port", metavar="N", type=int, default=9464, help="default: 9464; 0 takes any free one")
    return parser


if __name__ == "__main__":
    sys.exit(main())
