"""Alive: the process answers. Ready: its storage does too."""

from flask import Blueprint

from shared.tickets import QUEUES
from web.site import services

blueprint = Blueprint("health", __name__, url_prefix="/health")


@blueprint.get("/live")
def live() -> dict[str, str]:
    return {"status": "alive"}


@blueprint.get("/ready")
def ready() -> dict[str, str]:
    """Raises the storage's named failure, so that 503 tells a balancer to wait."""
    services().queues.depth(QUEUES[0])
    return {"status": "ready"}
