"""The limits of queues: what lies on them works, what lies beyond is refused by name."""

from datetime import timedelta

import pytest

from shared.errors import Invalid
from shared.queues import MAX_BODY_BYTES, MAX_METADATA_BYTES, MAX_TTL, MAX_VISIBILITY, Queues

A_SECOND = timedelta(seconds=1)
NOTHING = timedelta(0)


@pytest.mark.parametrize("count", [0, -1, 33])
def test_1_to_32_messages_can_be_asked_for(queues: Queues, queue: str, count: int) -> None:
    for act in (queues.receive, queues.peek):
        with pytest.raises(Invalid):
            act(queue, count=count)


@pytest.mark.parametrize("visibility", [NOTHING, -A_SECOND, MAX_VISIBILITY + A_SECOND])
def test_a_receive_hides_for_1_second_to_7_days(queues: Queues, queue: str, visibility: timedelta) -> None:
    with pytest.raises(Invalid):
        queues.receive(queue, visibility=visibility)


@pytest.mark.parametrize("visibility", [A_SECOND, MAX_VISIBILITY])
def test_the_edges_of_visibility_are_allowed(queues: Queues, queue: str, visibility: timedelta) -> None:
    queues.send(queue, "x")
    (message,) = queues.receive(queue, visibility=visibility)
    queues.update(queue, message.id, message.receipt, visibility=MAX_VISIBILITY)


@pytest.mark.parametrize("visibility", [-A_SECOND, MAX_VISIBILITY + A_SECOND])
def test_an_update_hides_for_0_seconds_to_7_days(queues: Queues, queue: str, visibility: timedelta) -> None:
    queues.send(queue, "x")
    (message,) = queues.receive(queue)
    with pytest.raises(Invalid):
        queues.update(queue, message.id, message.receipt, visibility=visibility)
    queues.delete(queue, message.id, message.receipt)


@pytest.mark.parametrize(
    ("delay", "ttl"),
    [
        (-A_SECOND, MAX_TTL),
        (MAX_VISIBILITY + A_SECOND, MAX_TTL),
        (NOTHING, NOTHING),
        (NOTHING, MAX_TTL + A_SECOND),
        (10 * A_SECOND, 10 * A_SECOND),
        (11 * A_SECOND, 10 * A_SECOND),
    ],
)
def test_a_delay_or_life_outside_its_limits_is_refused(
    queues: Queues, queue: str, delay: timedelta, ttl: timedelta
) -> None:
    with pytest.raises(Invalid):
        queues.send(queue, "x", delay=delay, ttl=ttl)
    assert queues.depth(queue).messages == 0


@pytest.mark.parametrize("character", ["x", "é", "\U0001f600"])
def test_a_body_of_48_kib_fits_and_not_a_byte_more(queues: Queues, queue: str, character: str) -> None:
    fits = character * (MAX_BODY_BYTES // len(character.encode()))
    queues.send(queue, fits)
    (message,) = queues.receive(queue)
    assert message.body == fits
    with pytest.raises(Invalid):
        queues.send(queue, fits + "x")
    with pytest.raises(Invalid):
        queues.update(queue, message.id, message.receipt, visibility=A_SECOND, body=fits + "x")


def test_a_body_is_valid_unicode(queues: Queues, queue: str) -> None:
    with pytest.raises(Invalid):
        queues.send(queue, "\ud800")


def test_queue_metadata_is_at_most_8_kib(queues: Queues, queue: str) -> None:
    fits = {"k": "v" * (MAX_METADATA_BYTES - 1)}
    queues.set_metadata(queue, fits)
    with pytest.raises(Invalid):
        queues.set_metadata(queue, {"k": "v" * MAX_METADATA_BYTES})
    assert queues.get_metadata(queue) == fits


@pytest.mark.parametrize("name", ["ab", "x" * 64, "Upper", "two--hyphens", "-first", "last-", "a_b", "a~b", "ä-b-c"])
def test_an_impossible_queue_name_is_refused(queues: Queues, name: str) -> None:
    for act in (queues.create, queues.ensure):
        with pytest.raises(Invalid):
            act(name)


@pytest.mark.parametrize("name", ["abc", "x" * 63, "a-1", "0-a"])
def test_names_on_the_limits_are_allowed(queues: Queues, name: str) -> None:
    queues.create(name)
    assert queues.exists(name)
    queues.delete_queue(name)
