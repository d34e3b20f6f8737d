"""The whole site as a person starts it, and a Chromium to visit it with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.infra.running import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    running = Site(tmp_path / "data").start("--no-sample").ready()
    yield running
    running.stop()
    running.end()
