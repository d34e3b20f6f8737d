"""Tell the topic what happened to a video: its facts wait in its own partition until every subscription has a copy."""

from shared.services import Services
from shared.tickets import Announce, Deliver
from workers.attempt import Attempt
from workers.steps import rest_if_done

DEADLINE = 600.0
"""Seconds; a few facts, a copy for each subscription."""


def handle(ticket: Announce, services: Services, attempt: Attempt) -> None:
    """Copies, then tickets, then the fact is crossed off: dying in between only copies it again."""
    for event in list(services.untold.facts(ticket.video)):
        attempt.check()
        for reached in services.subscriptions.publish(event):
            if reached.kind != "pull":
                made = services.clock.now()
                services.tickets.send(
                    Deliver(subscription=reached.name, made=made, traceparent=ticket.traceparent)
                )
        services.untold.cross_off(event)
    if services.catalog.find(ticket.video) is not None:
        rest_if_done(services, ticket.video)
