"""What a process says of its work, for whoever scales its pool."""

import os

from shared.services import Services
from tests.workers.conftest import Worker
from tests.workers.making import an_ingest
from workers.news import telling
from workers.report import Report, Told, last_told
from workers.scratch import Scratch, remove_abandoned
from workers.turns import Turns


def told(services: Services) -> Told | None:
    return last_told(services.scratch, os.getpid())


def test_a_process_says_what_it_holds_before_it_works_on_it_and_what_it_did_after(
    services: Services, worker: Worker, scratch: Scratch
) -> None:
    during: list[Told | None] = []
    report = Report(scratch, lambda: sum(len(held.tickets) for held in worker.keeper.held()))
    listener = worker.listener(lambda _: during.append(told(services)), queues=["ingest"], tell=telling([report.watch]))
    services.tickets.send(an_ingest(services))
    report.write()
    assert told(services) == Told(held=0)

    listener.step(Turns({"ingest": 1}))
    report.write()
    assert during == [Told(held=1)]
    assert told(services) == Told(held=0, done=1)


def test_what_it_says_goes_with_it(services: Services, scratch: Scratch) -> None:
    Report(scratch, lambda: 2).write()
    assert told(services) == Told(held=2)
    scratch.close()
    assert told(services) is None
    assert list(services.scratch.iterdir()) == []


def test_what_a_killed_process_said_is_removed_with_its_folder(services: Services) -> None:
    left = Scratch(services.scratch)
    left.say("something")
    left._lock.close()
    remove_abandoned(services.scratch)
    assert list(services.scratch.iterdir()) == []


def test_what_cannot_be_read_is_as_good_as_nothing(services: Services, scratch: Scratch) -> None:
    for text in ("", "{}", "half a li"):
        scratch.say(text)
        assert told(services) is None
