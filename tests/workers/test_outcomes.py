"""How a failure is judged."""

import errno
import random
from datetime import timedelta

import pytest

from shared.errors import Busy, Full, Stopped
from workers.outcomes import Outcome, RetryLater, SetAside, judge


def judged(error: Exception, *, tries: int = 1, forgiven: int = 0) -> Outcome:
    return judge(error, tries=tries, forgiven=forgiven, max_tries=5, chance=random.Random(1))


def test_work_that_was_stopped_is_given_back_at_once_uncounted() -> None:
    assert judged(Stopped("draining"), tries=5) == RetryLater(
        reason="Stopped: draining", delay=timedelta(0), counted=False
    )


@pytest.mark.parametrize("error", [Busy("busy"), Full("full"), OSError(errno.ENOSPC, "no space left")])
def test_a_busy_store_and_a_full_disk_are_not_counted_even_at_the_last_try(error: Exception) -> None:
    outcome = judged(error, tries=5)
    assert isinstance(outcome, RetryLater)
    assert not outcome.counted
    assert outcome.delay > timedelta(0)


def test_what_stays_busy_for_ever_counts_in_the_end() -> None:
    assert isinstance(judged(Busy("killed for its memory"), tries=5, forgiven=240), SetAside)


def test_any_other_failure_is_counted() -> None:
    outcome = judged(RuntimeError("odd"))
    assert isinstance(outcome, RetryLater)
    assert outcome.counted


def test_the_last_counted_failure_sets_aside_with_reason_and_traceback() -> None:
    try:
        raise RuntimeError("odd")
    except RuntimeError as error:
        outcome = judged(error, tries=5)
    assert isinstance(outcome, SetAside)
    assert outcome.reason.startswith("RuntimeError: odd\n")
    assert "test_outcomes.py" in outcome.reason
