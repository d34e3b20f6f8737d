"""The dequeue tasks of a process: started for work, ended without, roused by a call."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from shared.clock import SystemClock
from shared.errors import Busy
from shared.services import Services, build_services
from shared.settings import Settings
from tests.workers.conftest import Worker
from tests.workers.faulty import Faulty
from tests.workers.making import an_ingest, waiting
from tests.workers.processes import wait_until
from tests.workers.stores import open_stores
from workers.crew import Crew
from workers.news import News, QueueEmpty, WorkDetected
from workers.scaling import Rules, fixed, read_rules

ONE = fixed(1)
BY_DEPTH = [{"depth_below": 10, "tasks": 2}, {"tasks": 6}]


@pytest.fixture
def settings(tmp_path: Any) -> Settings:
    return Settings(
        storage=f"local:{tmp_path / 'data'}", min_free=0, secret_key="for tests only", idle_min=0.01, idle_max=0.1
    )


@pytest.fixture
def services(settings: Settings, faulty: dict[str, Faulty]) -> Services:
    """Over the system's clock, since threads wait by it."""
    return build_services(
        settings, faulty["blobs"], faulty["queues"], faulty["tables"], caller="test", clock=SystemClock()  # type: ignore[arg-type]
    )


@pytest.fixture
def faulty(settings: Settings) -> dict[str, Faulty]:
    return {name: Faulty(store) for name, store in open_stores(settings, SystemClock()).items()}


class Hands:
    """Handlers that hold every ticket until they are let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.at_work = 0
        self.most = 0
        self.done = 0
        self._lock = threading.Lock()

    def __call__(self, tickets: Sequence[Any]) -> None:
        with self._lock:
            self.at_work += 1
            self.most = max(self.most, self.at_work)
        self.go.wait(20)
        with self._lock:
            self.at_work -= 1
            self.done += 1


Make = Callable[..., Crew]


@pytest.fixture
def news() -> list[News]:
    return []


@pytest.fixture
def hands() -> Iterator[Hands]:
    hands = Hands()
    yield hands
    hands.go.set()


@pytest.fixture
def make(services: Services, worker: Worker, hands: Hands, news: list[News]) -> Iterator[Make]:
    with ExitStack() as stack:

        def made(rules: Rules = ONE, **options: Any) -> Crew:
            listener = worker.listener(hands, queues=["ingest"], tell=news.append)
            crew = Crew(listener, lambda: rules, news.append, **options)
            stack.callback(ends, crew, hands)
            return crew

        yield made


def ends(crew: Crew, hands: Hands) -> None:
    hands.go.set()
    crew.drain()
    wait_until(lambda: not crew.is_busy(), 10, "every task ends")


def tasks(crew: Crew) -> int:
    return crew.state().tasks


def send(services: Services, count: int) -> None:
    for _ in range(count):
        services.tickets.send(an_ingest(services))


def test_work_starts_as_many_tasks_as_the_rules_say_for_its_depth(
    make: Make, services: Services, hands: Hands
) -> None:
    send(services, 20)
    crew = make(read_rules(BY_DEPTH))
    crew.start()
    wait_until(lambda: hands.at_work == 6, 10, "six at work")
    assert crew.state().at_work == tasks(crew) == 6
    assert crew.state().depth in (14, 20)


def test_little_work_starts_few(make: Make, services: Services, hands: Hands) -> None:
    send(services, 5)
    crew = make(read_rules(BY_DEPTH))
    crew.start()
    wait_until(lambda: hands.at_work == 2, 10, "two at work")
    time.sleep(0.3)
    assert tasks(crew) == 2


def test_what_arrives_while_all_are_busy_is_noticed_by_its_depth(
    make: Make, services: Services, hands: Hands
) -> None:
    send(services, 2)
    crew = make(read_rules(BY_DEPTH))
    crew.start()
    wait_until(lambda: hands.at_work == 2, 10, "two at work")
    send(services, 30)
    crew.look_at_depth()
    wait_until(lambda: hands.at_work == 6, 10, "six at work")


def test_without_work_all_but_one_end(make: Make, services: Services, hands: Hands) -> None:
    send(services, 20)
    crew = make(read_rules(BY_DEPTH))
    crew.start()
    wait_until(lambda: hands.at_work == 6, 10, "six at work")
    hands.go.set()
    wait_until(lambda: waiting(services, "ingest") == 0, 10, "all done")
    wait_until(lambda: tasks(crew) == 1, 10, "one is left")
    time.sleep(0.5)
    assert tasks(crew) == 1
    assert hands.done == 20


def test_the_last_one_ends_too_where_somebody_will_call_and_then_nothing_is_asked_of_the_storage(
    make: Make, services: Services
) -> None:
    crew = make(may_sleep=lambda _: True)
    crew.start()
    wait_until(crew.is_asleep, 10, "none is left")
    before = services.meter.total()
    time.sleep(0.5)
    crew.look_at_depth()
    assert services.meter.total() == before


def test_a_call_rouses_one_that_sleeps(make: Make, services: Services, hands: Hands) -> None:
    hands.go.set()
    crew = make(read_rules(BY_DEPTH), may_sleep=lambda _: True)
    crew.start()
    wait_until(crew.is_asleep, 10, "none is left")
    send(services, 20)
    crew.rouse("ingest", count=20, size=300)
    wait_until(lambda: hands.done == 20, 10, "all done")
    wait_until(crew.is_asleep, 10, "it sleeps again")


def test_a_call_ends_the_wait_of_one_that_polls(
    make: Make, services: Services, hands: Hands, settings: Settings
) -> None:
    object.__setattr__(settings, "idle_max", 30.0)
    object.__setattr__(settings, "idle_min", 30.0)
    hands.go.set()
    crew = make()
    crew.start()
    time.sleep(0.5)
    send(services, 1)
    crew.rouse("ingest")
    wait_until(lambda: hands.done == 1, 5, "it is done")


def test_a_call_between_the_last_poll_and_the_end_is_not_missed(
    make: Make, services: Services, hands: Hands
) -> None:
    """The ticket comes just after the poll, the call just before the task would end."""
    hands.go.set()
    asked = threading.Event()

    def late_call(_: float) -> bool:
        if not asked.is_set():
            asked.set()
            send(services, 1)
            threading.Thread(target=crew.rouse, args=("ingest",)).start()
        return True

    crew = make(may_sleep=late_call)
    crew.start()
    wait_until(lambda: hands.done == 1, 5, "it is done")
    wait_until(crew.is_asleep, 10, "and then it sleeps")


def test_a_storage_that_does_not_answer_is_not_idleness(
    make: Make, services: Services, faulty: dict[str, Faulty]
) -> None:
    faulty["queues"].refuse("receive", Busy("away"), times=1000)
    crew = make(may_sleep=lambda _: True)
    crew.start()
    time.sleep(1)
    assert tasks(crew) == 1
    faulty["queues"].heal()
    wait_until(crew.is_asleep, 10, "idle indeed")


def test_work_after_idling_and_an_emptied_queue_are_told_once(
    make: Make, services: Services, hands: Hands, news: list[News]
) -> None:
    hands.go.set()
    crew = make()
    crew.start()
    wait_until(lambda: QueueEmpty(queue="ingest") in news, 10, "it was empty")
    news.clear()
    send(services, 3)
    wait_until(lambda: hands.done == 3, 10, "all done")
    wait_until(lambda: QueueEmpty(queue="ingest") in news, 10, "it is empty again")
    time.sleep(0.3)
    told = [one for one in news if isinstance(one, WorkDetected | QueueEmpty)]
    assert [type(one) for one in told[:1]] == [WorkDetected]
    assert told.count(QueueEmpty(queue="ingest")) <= 3
    assert len(told) <= 6


def test_draining_ends_every_task_after_what_it_has_in_hand(make: Make, services: Services, hands: Hands) -> None:
    send(services, 5)
    crew = make(fixed(3))
    crew.start()
    wait_until(lambda: hands.at_work == 3, 10, "three at work")
    crew.drain()
    crew.rouse("ingest")
    time.sleep(0.2)
    assert tasks(crew) == 3
    hands.go.set()
    wait_until(lambda: not crew.is_busy(), 10, "all ended")
    assert hands.done == 3
    assert waiting(services, "ingest") == 2
