"""Worker processes that sleep: they cost nothing, begin at once when called, and find work without a call too."""

import shutil
import time
from datetime import timedelta
from pathlib import Path
from statistics import quantiles

import pytest

from shared.services import Services, open_services
from shared.settings import Settings
from shared.tickets import encode
from shared.wake.waking import WakingQueues
from tests.wake.conftest import Way
from tests.workers.making import an_ingest, waiting
from tests.workers.processes import PoolProcess, wait_until
from workers.report import read_reports

ROUNDS = 120
SOON = 0.020


@pytest.fixture
def settings(folder: Path, way: Way) -> Settings:
    return Settings(
        storage=f"local:{folder / 'data'}", min_free=0, secret_key="for tests only", wake=way.wake, idle_max=0.4
    )


@pytest.fixture
def services(settings: Settings) -> Services:
    return open_services(settings, caller="test")


def is_asleep(services: Services) -> bool:
    """Every worker there is has no task left."""
    reports = list(read_reports(services.scratch))
    return bool(reports) and all(report.tasks == 0 for report in reports)


def pool(settings: Settings, *queues: str, **options: object) -> PoolProcess:
    changes = {"wake": settings.wake, "idle_max": settings.idle_max, **options}
    return PoolProcess(settings, *queues, **changes)


def send_silently(services: Services) -> None:
    """As a process does that dies before it has called."""
    layered = services.queues
    assert isinstance(layered, WakingQueues)
    layered._queues.send("ingest", encode(an_ingest(services)))


def test_one_that_sleeps_asks_the_storage_nothing(settings: Settings, services: Services) -> None:
    with pool(settings, "ingest", "index"):
        wait_until(lambda: is_asleep(services), 20, "it sleeps")
        time.sleep(1.2)  # it says what it does once a second
        [before] = read_reports(services.scratch)
        time.sleep(4)
        [after] = read_reports(services.scratch)
    assert before.operations == after.operations > 0


def test_work_is_begun_at_once(settings: Settings, services: Services) -> None:
    """From just before it is sent until it is done, deleted durably: a ticket of no video is little work."""
    took = []
    with pool(settings, "ingest"):
        wait_until(lambda: is_asleep(services), 20, "it sleeps")
        for _ in range(ROUNDS):
            began = time.perf_counter()
            services.tickets.send(an_ingest(services))
            while waiting(services, "ingest"):
                time.sleep(0.0005)
            took.append(time.perf_counter() - began)
    p50, p99 = (quantiles(took, n=100)[place] for place in (49, 98))
    print(f"sent to done: p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms")
    assert p50 < SOON


def test_a_ticket_that_waits_is_worked_when_its_time_comes(settings: Settings, services: Services) -> None:
    with pool(settings, "ingest"):
        wait_until(lambda: is_asleep(services), 20, "it sleeps")
        services.tickets.send(an_ingest(services), delay=timedelta(seconds=2))
        assert waiting(services, "ingest") == 1
        wait_until(lambda: waiting(services, "ingest") == 0, 5, "it is done")
        wait_until(lambda: is_asleep(services), 10, "it sleeps again")


def test_work_is_found_without_any_call_when_the_bus_is_broken(
    settings: Settings, services: Services, way: Way
) -> None:
    with pool(settings, "ingest"):
        wait_until(lambda: is_asleep(services), 20, "it sleeps")
        shutil.rmtree(services.scratch / "wake") if way.wake == "unix" else way.damage()
        send_silently(services)
        wait_until(lambda: waiting(services, "ingest") == 0, 8, "it is found")


def test_a_call_that_was_lost_is_made_up_for_by_a_sweep(settings: Settings, services: Services) -> None:
    with pool(settings, "ingest"), pool(settings, "housekeeping", sweep_every=2):
        wait_until(lambda: is_asleep(services), 20, "both sleep")
        send_silently(services)
        wait_until(lambda: waiting(services, "ingest") == 0, 10, "it is found")
