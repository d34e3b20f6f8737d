"""Where the embedded stores of a test lie, and short ways to open them."""

from pathlib import Path

from shared.clock import Clock, SystemClock
from shared.local.blobs import LocalBlobs
from shared.local.queues import LocalQueues
from shared.local.tables import LocalTables


def open_blobs(folder: Path, clock: Clock | None = None) -> LocalBlobs:
    return LocalBlobs(folder / "blobs", clock or SystemClock(), secret="signs links in tests")


def open_queues(folder: Path, clock: Clock | None = None) -> LocalQueues:
    return LocalQueues(folder / "queues.db", clock or SystemClock())


def open_tables(folder: Path, clock: Clock | None = None) -> LocalTables:
    return LocalTables(folder / "tables.db", clock or SystemClock())


def bytes_on_disk(folder: Path) -> int:
    """Of all files that hold blobs."""
    return sum(path.stat().st_size for path in (folder / "blobs" / "files").rglob("*") if path.is_file())
