"""Senders call: once the ticket is there, for the queues of tickets alone, and never for a lease that is renewed."""

from datetime import timedelta

import pytest

from shared.queues import Queues
from shared.wake import Call
from shared.wake.waking import WakingQueues


class Heard:
    """A bus that notes each call, and what the queue held by then."""

    def __init__(self, queues: Queues) -> None:
        self._queues = queues
        self.calls: list[Call] = []
        self.depths: list[int] = []

    def call(self, call: Call) -> None:
        self.calls.append(call)
        self.depths.append(self._queues.depth(call.queue).messages)

    def ear(self, account: str, queues: object) -> None:
        return None


@pytest.fixture
def heard(queues: Queues) -> Heard:
    return Heard(queues)


@pytest.fixture
def waking(queues: Queues, heard: Heard) -> WakingQueues:
    for name in ("ingest", "ingest-poison"):
        queues.ensure(name)
    return WakingQueues(queues, heard, "a site")


def test_a_ticket_is_there_when_its_call_is_made(waking: WakingQueues, heard: Heard) -> None:
    waking.send("ingest", "four")
    waking.send("ingest", "seconds", delay=timedelta(seconds=4))
    assert heard.calls == [
        Call(account="a site", queue="ingest", size=4), Call(account="a site", queue="ingest", size=7)
    ]
    assert heard.depths == [1, 2]


def test_a_ticket_given_back_is_called_and_one_held_for_longer_is_not(waking: WakingQueues, heard: Heard) -> None:
    waking.send("ingest", "body")
    [message] = waking.receive("ingest")
    receipt = waking.update("ingest", message.id, message.receipt, visibility=timedelta(seconds=30))
    assert len(heard.calls) == 1
    waking.update("ingest", message.id, receipt, visibility=timedelta(0), body="again")
    assert len(heard.calls) == 2


def test_what_is_set_aside_calls_nobody(waking: WakingQueues, heard: Heard) -> None:
    waking.send("ingest-poison", "body")
    assert heard.calls == []
    assert waking.depth("ingest-poison").messages == 1
