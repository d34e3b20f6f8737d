"""The sweep: what stopped moving is sent on its way again, what nobody refers to is removed; safe to run twice at once."""

import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import structlog

from shared.errors import Busy, Conflict, MatineeError, NotFound, Stopped
from shared.services import Services
from shared.tickets import Sweep

SWEEPS = "sweeps"
SLOTS = "slots"
_KEEP_SLOTS = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something to put right: `what` in a word or two, `about` which video or blob; `mend` does it."""

    what: str
    about: str
    mend: Callable[[], None] = field(repr=False)


def claim_slot(services: Services) -> None:
    """Of all processes that ask in one period the first sends its sweep ticket."""
    now = services.clock.now()
    slot = str(math.floor(now.timestamp() / services.settings.sweep_every))
    try:
        services.tables.insert(SWEEPS, SLOTS, slot.rjust(20, "0"), {"at": now})
    except Conflict:
        return
    services.tickets.send(Sweep(slot=slot, made=now))
