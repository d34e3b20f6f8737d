"""The stores a test works with, opened as services.py opens them."""

from typing import Any

from shared.clock import Clock
from shared.local.blobs import LocalBlobs
from shared.local.queues import LocalQueues
from shared.local.tables import LocalTables
from shared.settings import Settings


def open_stores(settings: Settings, clock: Clock) -> dict[str, Any]:
    root = settings.local_path()
    return {
        "blobs": LocalBlobs(root / "blobs", clock, secret=settings.secret_key),
        "queues": LocalQueues(root / "queues.db", clock),
        "tables": LocalTables(root / "tables.db", clock),
    }
