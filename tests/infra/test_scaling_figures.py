"""What the scaler knows of a pool, from real queues and from what processes say; and what knowing it costs."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from infra.pools import Pool, read_pools
from infra.scaling.figures import Figures, Told
from infra.scaling.history import Reading
from infra.scaling.processor import Processor
from infra.scaling.scaler import Scaler
from shared.azure.account import open_account
from shared.azure.queues import AzureQueues
from shared.errors import Busy
from shared.services import Services, build_services
from shared.settings import Settings
from tests.azurite.running import Azurite, azurite
from tests.workers.clock import HandClock
from tests.workers.faulty import Faulty
from tests.workers.stores import open_stores

DAY = 86_400


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def queues(tmp_path: Path, clock: HandClock) -> Faulty:
    return Faulty(open_stores(a_setting(tmp_path), clock)["queues"])


@pytest.fixture
def services(tmp_path: Path, clock: HandClock, queues: Faulty) -> Services:
    settings = a_setting(tmp_path)
    stores = open_stores(settings, clock)
    return build_services(settings, stores["blobs"], queues, stores["tables"], caller="scaler", clock=clock)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azurite]:
    with azurite(tmp_path_factory.mktemp("azurite")) as running:
        yield running


def a_setting(folder: Path) -> Settings:
    return Settings(storage=f"local:{folder / 'data'}", secret_key="for tests only", min_free=0)


def transcode(**rule: object) -> Pool:
    [pool] = [pool for pool in read_pools(cores=16) if pool.name == "transcode"]
    return replace(pool, rule=replace(pool.rule, **rule))  # type: ignore[arg-type]


@pytest.fixture
def read(services: Services, clock: HandClock) -> Callable[..., Reading]:
    figures = Figures(services.queues)
    return lambda processes=None, size=4: figures.read(transcode(), size, processes, at=clock.monotonic(), cpu=None)


def test_what_waits_and_what_is_held_are_told_apart_over_all_queues_of_a_pool(
    services: Services, clock: HandClock, read: Callable[..., Reading]
) -> None:
    services.queues.send("transcode-low", "old")
    clock.forward(30)
    for _ in range(3):
        services.queues.send("transcode-high", "new")
    services.queues.receive("transcode-high", count=2, visibility=timedelta(seconds=60))
    reading = read()
    assert (reading.visible, reading.hidden) == (2, 2)
    assert reading.oldest == 30.0
    assert reading.most_at_work == 2


def test_a_queue_that_cannot_be_asked_is_not_an_empty_one(queues: Faulty, read: Callable[..., Reading]) -> None:
    queues.refuse("depth", Busy("the storage is away"))
    reading = read()
    assert (reading.visible, reading.hidden) == (None, None)
    assert reading.most_at_work == 4


def test_processes_say_what_they_hold_and_what_they_have_done_since(read: Callable[..., Reading]) -> None:
    first = read({11: Told(held=1, done=3, seconds=30.0), 12: Told(held=0)})
    assert (first.at_work, first.done, first.seconds) == (1, 3, 30.0)
    then = read({11: Told(held=0, done=5, seconds=44.0), 12: Told(held=1)})
    assert (then.at_work, then.done, then.seconds) == (1, 2, 14.0)


def test_a_process_that_tells_nothing_may_hold_what_is_held(services: Services, read: Callable[..., Reading]) -> None:
    assert read({11: None, 12: None}).at_work == 0
    services.queues.send("transcode-low", "x")
    services.queues.receive("transcode-low")
    assert read({11: None, 12: None}).at_work == 2


def test_an_account_counts_up_to_32_that_wait_and_of_more_what_its_workers_cannot_hold(emulator: Azurite) -> None:
    queues = AzureQueues(open_account(emulator.account().connection_string).queues)
    for queue in transcode().queues:
        queues.ensure(queue)
    for _ in range(40):
        queues.send("transcode-normal", "x")
    queues.receive("transcode-normal", count=3)
    figures = Figures(queues)
    reading = figures.read(transcode(), 4, None, at=0.0, cpu=None)
    assert (reading.visible, reading.hidden) == (36, 4), "four processes may hold four of the forty"
    queues.receive("transcode-normal", count=20)
    reading = figures.read(transcode(), 4, None, at=0.0, cpu=None)
    assert (reading.visible, reading.hidden) == (17, 23)


def asked(services: Services) -> int:
    return services.meter.operations().get(("queue", "depth"), 0)


def test_a_day_of_looks_asks_each_queue_of_a_pool_8_640_times(services: Services, clock: HandClock) -> None:
    scaler, pool = Scaler(services.queues, clock), transcode(floor=0)
    before = asked(services)
    for _ in range(DAY // 100):
        assert scaler.look(pool, 0) is not None
        clock.forward(services.settings.scale_every)
    assert (asked(services) - before) * 10 == 3 * 8_640


def test_a_pool_whose_processes_have_nothing_to_do_is_looked_at_for_nothing(
    services: Services, clock: HandClock
) -> None:
    scaler, before = Scaler(services.queues, clock), asked(services)
    assert scaler.look(transcode(), 1, {11: Told(held=0)}).size == 1
    assert scaler.look(transcode(ceiling=1), 1, {11: None}).size == 1
    assert asked(services) == before
    assert scaler.look(transcode(), 1, {11: Told(held=1)}).size == 1
    assert scaler.look(transcode(), 2, {11: Told(held=0), 12: Told(held=0)}).size == 2
    assert asked(services) == before + 6


def test_a_scaler_that_has_just_begun_wants_no_fewer_than_what_is_held_may_need(
    services: Services, clock: HandClock
) -> None:
    for _ in range(5):
        services.queues.send("transcode-low", "x")
    services.queues.receive("transcode-low", count=5)
    assert Scaler(services.queues, clock).look(transcode(), None).size == 5


def test_the_processors_busy_share_is_that_of_the_time_since_the_look_before(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    processor = Processor(stat)
    assert processor.busy() is None
    shares = []
    for user, idle, waiting in ((0, 0, 0), (300, 80, 20), (301, 80, 20), (400, 370, 30)):
        stat.write_text(f"cpu  {user} 0 0 {idle} {waiting} 0 0 0 0 0\ncpu0 1 2 3\n")
        shares.append(processor.busy())
    assert shares == [None, 0.75, 0.75, 0.25]
