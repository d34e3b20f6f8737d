"""Work nobody needs any more is stopped: its video was deleted, has failed, or is processed afresh."""

import structlog

from shared.errors import MatineeError
from shared.services import Services
from shared.tickets import Assemble, Ingest, PartTicket, Ticket
from workers.lease import LeaseKeeper
from workers.steps import past


def stop_unwanted(services: Services, keeper: LeaseKeeper) -> None:
    """One look at the record of each video at work; called about every second."""
    for held in keeper.held():
        if not held.attempt.stopped.is_set() and any(_is_unwanted(services, ticket) for ticket in held.tickets):
            held.attempt.stop("nobody needs it any more")


def _is_unwanted(services: Services, ticket: Ticket) -> bool:
    if not isinstance(ticket, PartTicket | Ingest | Assemble):
        return False
    try:
        video = services.catalog.find(ticket.video)
    except MatineeError as error:
        structlog.get_logger().info("video not looked at", video=ticket.video, reason=str(error))
        return False
    return video is None or past(video, ticket.generation)
