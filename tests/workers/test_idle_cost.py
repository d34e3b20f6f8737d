"""What idle listeners ask of the storage, and what that costs: the case in every queue service's documentation, and ours."""

from pathlib import Path

import pytest

from infra.pools import read_pools
from shared.bill import Prices
from shared.services import Services, build_services
from shared.settings import Settings
from tests.workers.clock import HandClock
from tests.workers.stores import open_stores
from workers.crew import Crew
from workers.handlers.table import find_handlers
from workers.lease import LeaseKeeper
from workers.listener import Listener
from workers.scaling import fixed
from workers.scratch import Scratch

HOURS = 22
TEN_CENTS_FOR_100_000 = "blob-write=0 blob-list=0 blob-read=0 queue=0.01 table=0"


class Night(Crew):
    """One dequeue task whose waits are passed by a clock moved by hand."""

    def __init__(self, listener: Listener, clock: HandClock, seconds: float) -> None:
        super().__init__(listener, lambda: fixed(1), lambda _: None)
        self._clock = clock
        self._until = clock.monotonic() + seconds

    def pass_by(self) -> None:
        self._go_round()

    def _is_roused(self, heard: int, *, within: float) -> bool:
        self._clock.forward(within)
        if self._clock.monotonic() >= self._until - 1e-6:
            self.drain()
        return False


def idle(root: Path, queues: dict[str, int], hours: float, **settings: float) -> Services:
    """One dequeue task with nothing to do for so long, and the services that counted it."""
    clock = HandClock()
    given = Settings(storage=f"local:{root}", secret_key="for tests only", min_free=0, **settings)  # type: ignore[arg-type]
    services = build_services(given, *open_stores(given, clock).values(), caller="test", clock=clock)
    scratch = Scratch(services.scratch)
    listener = Listener(services, queues, find_handlers(), keeper=LeaseKeeper(), scratch=scratch)
    before = services.meter.total()
    Night(listener, clock, hours * 3600).pass_by()
    scratch.close()
    assert services.meter.total() - before == services.meter.operations()["queue", "receive"]
    return services


def receives(services: Services) -> int:
    return services.meter.operations()["queue", "receive"]


def test_a_listener_that_polls_each_second_asks_79_200_times_in_22_hours(tmp_path: Path) -> None:
    services = idle(tmp_path, {"index": 1}, HOURS, idle_min=1.0, idle_max=1.0)
    assert receives(services) == 79_200
    month = {("queue", "receive"): receives(services) * 200 * 30}
    assert Prices.read(TEN_CENTS_FOR_100_000).cost(month) == pytest.approx(475.20)


def test_ours_waits_longer_the_longer_it_is_idle(tmp_path: Path) -> None:
    """As a deployment on an account would set it: found again within ten seconds, at a tenth of the price."""
    services = idle(tmp_path, {"index": 1}, 1, idle_max=10.0)
    assert receives(services) == pytest.approx(360, abs=12)


def test_every_process_of_a_machine_costs_what_its_queues_say_since_one_task_of_each_polls(tmp_path: Path) -> None:
    asked = sum(
        pool.processes * receives(idle(tmp_path / pool.name, pool.queues, 0.25))
        for pool in read_pools(cores=2)
    )
    queues_asked = sum(pool.processes * len(pool.queues) for pool in read_pools(cores=2))
    assert asked == pytest.approx(900 * queues_asked, rel=0.02)
