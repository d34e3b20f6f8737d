"""Put right what others left undone; two sweeps at once do no harm."""

from shared.services import Services
from shared.tickets import Sweep
from workers.attempt import Attempt
from workers.sweep import sweep

DEADLINE = 3600.0
"""Seconds; now and then it looks at every blob there is."""


def handle(ticket: Sweep, services: Services, attempt: Attempt) -> None:  # noqa: ARG001 - every handler has this form
    sweep(services, check=attempt.check)
