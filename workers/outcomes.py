"""What becomes of a ticket after a try: done, retried later, or set aside; the one place a failure is judged."""

import errno
import random
import traceback
from dataclasses import dataclass
from datetime import timedelta

from shared.errors import Busy, Full, Stopped
from workers.backoff import pause, retry_delay

_DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT)
_MOST_FORGIVEN = 240
"""About an hour of a busy store or a full disk; what goes on for longer may be the ticket's own doing, and counts."""
_TRACE = 3000


@dataclass(frozen=True, kw_only=True)
class Done:
    """Its effects are durable (or it asked for nothing): delete it."""


@dataclass(frozen=True, kw_only=True)
class RetryLater:
    """Visible again after `delay`; a try that is not `counted` does not bring it nearer to being set aside."""

    reason: str
    delay: timedelta
    counted: bool


@dataclass(frozen=True, kw_only=True)
class SetAside:
    """No further try will help; kept for an operator with its reason."""

    reason: str


Outcome = Done | RetryLater | SetAside


def judge(error: Exception, *, tries: int, forgiven: int, max_tries: int, chance: random.Random) -> Outcome:
    """The outcome of a try that raised `error`, which was counted try number `tries` (from 1)."""
    reason = f"{type(error).__name__}: {error}"
    if isinstance(error, Stopped):
        return RetryLater(reason=reason, delay=timedelta(0), counted=False)
    if _is_nobodys_fault(error) and forgiven < _MOST_FORGIVEN:
        return RetryLater(reason=reason, delay=pause(forgiven, chance), counted=False)
    if tries >= max_tries:
        return SetAside(reason=f"{reason}\n{''.join(traceback.format_exception(error))[-_TRACE:]}")
    return RetryLater(reason=reason, delay=retry_delay(tries, chance), counted=True)


def _is_nobodys_fault(error: Exception) -> bool:
    return isinstance(error, Busy | Full) or getattr(error, "errno", None) in _DISK_IS_FULL
