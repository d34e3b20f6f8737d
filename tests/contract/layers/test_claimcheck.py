"""Claim check: a body of any size travels; its blob goes with the message, and a lost one is never waited for."""

import random
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.blobs import Blobs
from shared.claimcheck import CLAIMS, ClaimCheckQueues
from shared.errors import Lost
from shared.queues import MAX_BODY_BYTES, Queues
from tests.contract.backend import Backend

LARGE = "".join(random.Random(1).choices("abcdefé\U0001f600", k=3 * MAX_BODY_BYTES))


@pytest.fixture
def checked(queues: Queues, blobs: Blobs) -> ClaimCheckQueues:
    queues = ClaimCheckQueues(queues, blobs)
    queues.create("work")
    return queues


def claims(blobs: Blobs) -> int:
    return len(blobs.list_blobs(CLAIMS).blobs)


def test_a_small_body_travels_as_it_is(checked: ClaimCheckQueues, queues: Queues) -> None:
    checked.send("work", "small")
    assert [message.body for message in queues.peek("work")] == ["small"]
    assert [message.body for message in checked.receive("work")] == ["small"]


def test_a_body_of_48_kib_needs_no_claim_and_one_byte_more_does(checked: ClaimCheckQueues, queues: Queues) -> None:
    checked.send("work", "x" * MAX_BODY_BYTES)
    checked.send("work", "x" * (MAX_BODY_BYTES + 1))
    sizes = sorted(len(message.body) for message in queues.peek("work", count=32))
    assert sizes[0] < 200
    assert sizes[1] == MAX_BODY_BYTES


def test_a_large_body_comes_back_whole(checked: ClaimCheckQueues, queues: Queues, blobs: Blobs) -> None:
    sent = checked.send("work", LARGE)
    assert sent.body == LARGE
    assert checked.peek("work")[0].body == LARGE
    (received,) = checked.receive("work")
    assert (received.id, received.body) == (sent.id, LARGE)
    assert claims(blobs) == 1
    assert blobs.list_blobs(CLAIMS).blobs[0].size < len(LARGE.encode())


def test_the_blob_goes_after_the_message(checked: ClaimCheckQueues, blobs: Blobs) -> None:
    checked.send("work", LARGE)
    (message,) = checked.receive("work")
    checked.delete("work", message.id, message.receipt or "")
    assert claims(blobs) == 0
    assert checked.depth("work").messages == 0


def test_a_stale_receipt_removes_no_blob(backend: Backend, checked: ClaimCheckQueues, blobs: Blobs) -> None:
    checked.send("work", LARGE)
    (first,) = checked.receive("work", visibility=timedelta(seconds=1))
    backend.wait(2)
    (second,) = checked.receive("work")
    with pytest.raises(Lost):
        checked.delete("work", first.id, first.receipt or "")
    assert claims(blobs) == 1
    checked.delete("work", second.id, second.receipt or "")
    assert claims(blobs) == 0


def test_a_renewed_receipt_still_leads_to_the_blob(checked: ClaimCheckQueues, blobs: Blobs) -> None:
    checked.send("work", LARGE)
    (message,) = checked.receive("work")
    receipt = checked.update("work", message.id, message.receipt or "", visibility=timedelta(seconds=30))
    checked.delete("work", message.id, receipt)
    assert claims(blobs) == 0


@pytest.mark.parametrize("body", ["small", LARGE[::-1]])
def test_a_changed_body_takes_its_own_blob_and_drops_the_old(
    checked: ClaimCheckQueues, blobs: Blobs, body: str
) -> None:
    checked.send("work", LARGE)
    (message,) = checked.receive("work")
    checked.update("work", message.id, message.receipt or "", visibility=timedelta(0), body=body)
    (again,) = checked.receive("work")
    assert again.body == body
    assert claims(blobs) == (1 if len(body) > MAX_BODY_BYTES else 0)
    checked.delete("work", again.id, again.receipt or "")
    assert claims(blobs) == 0


def test_a_claim_without_its_blob_is_handed_on_as_it_is(
    checked: ClaimCheckQueues, queues: Queues, blobs: Blobs
) -> None:
    checked.send("work", LARGE)
    for blob in blobs.list_blobs(CLAIMS).blobs:
        blobs.delete(CLAIMS, blob.name)
    (message,) = checked.receive("work")
    assert "matinee.claim" in message.body
    checked.delete("work", message.id, message.receipt or "")
    assert queues.depth("work").messages == 0


def test_a_corrupt_blob_is_handed_on_as_its_claim(checked: ClaimCheckQueues, blobs: Blobs) -> None:
    checked.send("work", LARGE)
    (blob,) = blobs.list_blobs(CLAIMS).blobs
    blobs.put(CLAIMS, blob.name, b"not zlib")
    assert "matinee.claim" in checked.receive("work")[0].body


def test_a_body_that_looks_like_a_claim_is_no_claim(checked: ClaimCheckQueues) -> None:
    body = '{"schema": "matinee.claim", "version": 1, "blob": "somebody-elses"}'
    checked.send("work", body)
    assert checked.receive("work")[0].body == body


@given(body=st.text(st.characters(exclude_categories=["Cs"]), max_size=50))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
def test_any_body_comes_back_as_it_was(checked: ClaimCheckQueues, body: str) -> None:
    checked.send("work", body * 1500)
    (message,) = checked.receive("work")
    assert message.body == body * 1500
    checked.delete("work", message.id, message.receipt or "")


def test_blobs_left_behind_go_in_time_and_those_in_use_stay(
    backend: Backend, checked: ClaimCheckQueues, blobs: Blobs
) -> None:
    if not backend.waits_for_days:
        assert backend.collects_by_itself
        return
    just_too_large = "x" * (MAX_BODY_BYTES + 1)
    for _ in range(3):
        checked.send("work", just_too_large)
    checked.clear("work")
    backend.wait(9 * 86400)
    rounds = 0
    while claims(blobs) > 1:  # each looks at a sixteenth of them
        rounds += 1
        assert rounds < 500
        for message in checked.receive("work"):
            checked.delete("work", message.id, message.receipt or "")
        checked.send("work", just_too_large)
    assert checked.receive("work")[0].body == just_too_large
