"""Partitions: one queue to its users, several to the service."""

from datetime import timedelta

import pytest

from shared.errors import Conflict, Lost, NotFound
from shared.partitions import PartitionedQueues
from shared.queues import Queues
from tests.contract.backend import Backend

PARTS = [f"work-p{number}" for number in range(4)]


@pytest.fixture
def spread(queues: Queues) -> PartitionedQueues:
    spread = PartitionedQueues(queues, {"work": len(PARTS)})
    spread.create("work")
    spread.create("plain")
    return spread


def test_sends_are_spread_evenly(spread: PartitionedQueues, queues: Queues) -> None:
    for _ in range(20):
        spread.send("work", "x")
    assert [queues.depth(part).messages for part in PARTS] == [5, 5, 5, 5]


def test_a_receive_gathers_from_all(spread: PartitionedQueues) -> None:
    sent = {spread.send("work", str(number)).id for number in range(10)}
    received = spread.receive("work", count=32)
    assert {message.id for message in received} == sent
    assert {message.body for message in received} == {str(number) for number in range(10)}


def test_a_receive_takes_no_more_than_asked(spread: PartitionedQueues) -> None:
    for number in range(10):
        spread.send("work", str(number))
    assert [len(spread.receive("work", count=4)) for _ in range(4)] == [4, 4, 2, 0]


def test_one_message_is_found_wherever_it_lies(spread: PartitionedQueues) -> None:
    for _ in range(2 * len(PARTS)):
        sent = spread.send("work", "x")
        (message,) = spread.receive("work")
        assert message.id == sent.id
        spread.delete("work", message.id, message.receipt or "")
    assert spread.receive("work") == []


def test_no_partition_is_always_asked_first(spread: PartitionedQueues, queues: Queues) -> None:
    for part in PARTS:
        for _ in range(3):
            queues.send(part, part)
    first = {spread.receive("work")[0].body for _ in PARTS}
    assert first == set(PARTS)


def test_a_message_is_ruled_by_its_id_and_receipt(spread: PartitionedQueues, backend: Backend) -> None:
    for number in range(8):
        spread.send("work", str(number))
    for message in spread.receive("work", count=32):
        receipt = spread.update("work", message.id, message.receipt or "", visibility=timedelta(seconds=1), body="new")
        with pytest.raises(Lost):
            spread.delete("work", message.id, message.receipt or "")
        spread.delete("work", message.id, receipt)
    backend.wait(2)
    assert spread.depth("work").messages == 0


@pytest.mark.parametrize("message_id", ["", "x", "9~x", "-1~x", "0", "²~x"])
def test_an_id_of_no_partition_is_lost(spread: PartitionedQueues, message_id: str) -> None:
    with pytest.raises(Lost):
        spread.delete("work", message_id, "receipt")


def test_the_depth_is_the_sum_and_the_age_that_of_the_oldest(spread: PartitionedQueues, backend: Backend) -> None:
    assert spread.depth("work").oldest is None
    spread.send("work", "old")
    backend.wait(3)
    for _ in range(6):
        spread.send("work", "young")
    depth = spread.depth("work")
    assert depth.messages == 7
    assert timedelta(seconds=2) <= depth.oldest <= timedelta(seconds=5)


def test_it_is_listed_as_one(spread: PartitionedQueues, queues: Queues) -> None:
    assert spread.list_queues() == ["plain", "work"]
    assert spread.list_queues(prefix="wo") == ["work"]
    assert queues.list_queues() == ["plain", *PARTS]


def test_it_is_created_and_deleted_as_one(spread: PartitionedQueues, queues: Queues) -> None:
    assert spread.exists("work")
    spread.delete_queue("work")
    assert queues.list_queues() == ["plain"]
    assert not spread.exists("work")
    with pytest.raises(NotFound):
        spread.delete_queue("work")
    spread.ensure("work")
    assert spread.exists("work")


def test_a_half_created_one_does_not_exist_and_can_be_finished(spread: PartitionedQueues, queues: Queues) -> None:
    queues.delete_queue(PARTS[2])
    assert not spread.exists("work")
    spread.ensure("work")
    assert spread.exists("work")


def test_clearing_clears_all(spread: PartitionedQueues) -> None:
    for _ in range(8):
        spread.send("work", "x")
    spread.clear("work")
    assert spread.depth("work").messages == 0


def test_metadata_is_that_of_all(spread: PartitionedQueues) -> None:
    spread.set_metadata("work", {"k": "v"})
    assert spread.get_metadata("work") == {"k": "v"}
    spread.create("work", metadata={"k": "v"})
    with pytest.raises(Conflict):
        spread.create("work", metadata={})


def test_peeking_looks_into_all(spread: PartitionedQueues) -> None:
    for number in range(6):
        spread.send("work", str(number))
    assert {message.body for message in spread.peek("work", count=32)} == {str(number) for number in range(6)}


def test_a_queue_that_is_not_split_is_left_alone(spread: PartitionedQueues, queues: Queues) -> None:
    sent = spread.send("plain", "x")
    assert queues.peek("plain")[0].id == sent.id
    (message,) = spread.receive("plain")
    spread.delete("plain", message.id, message.receipt or "")
