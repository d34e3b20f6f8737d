"""The whole site as infra/up starts it, ended as by Ctrl-C, and a Chromium to visit it with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.infra.running import UP, Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    running = Site(tmp_path / "data").start("--no-sample", command=UP).ready()
    try:
        yield running
        assert running.stop() == 0
        assert running.processes() == {}
    finally:
        running.end()
