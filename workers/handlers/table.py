"""Ticket kind -> handler: whatever file stands in this folder handles the kind it is named after."""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import workers.handlers
from shared.queues import MAX_BATCH
from shared.services import Services
from shared.tickets import Ticket
from workers.attempt import Attempt

Run = Callable[[Sequence[Ticket], Services, Attempt], None]
"""Works the tickets; raising fails all of them. Unless it takes batches it is given one."""


@dataclass(frozen=True, kw_only=True)
class Handler:
    """What works one kind of ticket, up to `batch` at once."""

    run: Run
    batch: int = 1


def find_handlers() -> dict[str, Handler]:
    """A module offers `handle(ticket, services, attempt)` or `handle_batch(tickets, services, attempt)`."""
    names = [module.name for module in pkgutil.iter_modules(workers.handlers.__path__)]
    return {name: _handler(name) for name in names if name != "table"}


def _handler(name: str) -> Handler:
    module = importlib.import_module(f"{workers.handlers.__name__}.{name}")
    if hasattr(module, "handle_batch"):
        return Handler(run=module.handle_batch, batch=MAX_BATCH)
    return Handler(run=_one_by_one(module.handle))


def _one_by_one(handle: Callable[[Any, Services, Attempt], None]) -> Run:
    def run(tickets: Sequence[Ticket], services: Services, attempt: Attempt) -> None:
        for ticket in tickets:
            handle(ticket, services, attempt)

    return run
