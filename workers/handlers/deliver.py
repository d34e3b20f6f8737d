"""Work off one subscription: its events one after another to its receiver, by one worker at a time."""

from shared.services import Services
from shared.tickets import Deliver
from workers.attempt import Attempt
from workers.delivering import deliver
from workers.outcomes import Outcome

DEADLINE = 900.0
"""Seconds; a hundred events, each of which may take its receiver as long as it is given."""


def handle(ticket: Deliver, services: Services, attempt: Attempt) -> Outcome | None:
    subscription = services.subscriptions.find(ticket.subscription)
    if subscription is None or subscription.kind == "pull" or subscription.disabled:
        return None
    return deliver(subscription, services, attempt)
