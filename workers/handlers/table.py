"""Ticket kind -> handler: whatever file stands in this folder handles the kind it is named after."""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import workers.handlers
from shared.services import Services
from shared.tickets import Ticket
from workers.attempt import Attempt
from workers.outcomes import Outcome

Run = Callable[[Sequence[Ticket], Services, Attempt], Outcome | None]
"""Works the tickets and says what comes of them, done if nothing; raising fails all of them."""


@dataclass(frozen=True, kw_only=True)
class Handler:
    """What works one kind of ticket, several `together` or each by itself, within `deadline` seconds."""

    run: Run
    together: bool = False
    deadline: float | None = None


def find_handlers() -> dict[str, Handler]:
    """A module offers DEADLINE and `handle(ticket, services, attempt)`, or `handle_batch(tickets, ...)`."""
    names = [module.name for module in pkgutil.iter_modules(workers.handlers.__path__)]
    return {name: _handler(name) for name in names if name != "table"}


def _handler(name: str) -> Handler:
    module = importlib.import_module(f"{workers.handlers.__name__}.{name}")
    if hasattr(module, "handle_batch"):
        return Handler(run=module.handle_batch, together=True, deadline=module.DEADLINE)
    return Handler(run=_alone(module.handle), deadline=module.DEADLINE)


def _alone(handle: Callable[[Any, Services, Attempt], Outcome | None]) -> Run:
    def run(tickets: Sequence[Ticket], services: Services, attempt: Attempt) -> Outcome | None:
        [ticket] = tickets
        return handle(ticket, services, attempt)

    return run
