"""Real stores in a temporary folder, with a clock moved by hand."""

from pathlib import Path

import pytest

from shared.blobs import Blobs
from shared.local.blobs import LocalBlobs
from shared.local.queues import LocalQueues
from shared.local.tables import LocalTables
from shared.queues import Queues
from shared.tables import Tables
from tests.workers.clock import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def blobs(tmp_path: Path, clock: HandClock) -> Blobs:
    return LocalBlobs(tmp_path / "blobs", clock, secret="signs links in tests")


@pytest.fixture
def queues(tmp_path: Path, clock: HandClock) -> Queues:
    return LocalQueues(tmp_path / "queues.db", clock)


@pytest.fixture
def tables(tmp_path: Path, clock: HandClock) -> Tables:
    return LocalTables(tmp_path / "tables.db", clock)
