"""A writer and a finder that share nothing but a real blob store, and a clock moved by hand."""

from collections.abc import Callable
from pathlib import Path

import pytest

from shared.blobs import Blobs
from shared.local.blobs import LocalBlobs
from shared.search.finder import Finder
from shared.search.writer import IndexWriter
from tests.search.shelf import Shelf
from tests.workers.clock import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def blobs(tmp_path: Path, clock: HandClock) -> Blobs:
    return LocalBlobs(tmp_path / "store" / "blobs", clock, secret="signs links in tests")


@pytest.fixture
def a_writer(blobs: Blobs, clock: HandClock, tmp_path: Path) -> Callable[[str], IndexWriter]:
    """On a machine of the given name; each has its own disk."""
    return lambda machine: IndexWriter(blobs, clock, tmp_path / machine)


@pytest.fixture
def a_finder(blobs: Blobs, clock: HandClock, tmp_path: Path) -> Callable[[str], Finder]:
    return lambda machine: Finder(blobs, clock, tmp_path / machine)


@pytest.fixture
def shelf(a_writer: Callable[[str], IndexWriter], a_finder: Callable[[str], Finder]) -> Shelf:
    return Shelf(a_writer("worker"), a_finder("web"))
