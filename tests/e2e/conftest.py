"""The whole site: as infra/up starts it, ended as by Ctrl-C; or scattered over machines that share only an account."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.azurite.running import Account
from tests.e2e.scattered import PASSWORD, Scattered
from tests.infra.running import UP, Site, eventually


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    running = Site(tmp_path / "data").start("--no-sample", command=UP).ready()
    try:
        yield running
        assert running.stop() == 0
        assert running.processes() == {}
    finally:
        running.end()


@pytest.fixture
def settings() -> dict[str, str]:
    """Of the scattered site; a test may name others."""
    return {}


@pytest.fixture
def scattered(tmp_path: Path, account: Account, settings: dict[str, str]) -> Iterator[Scattered]:
    site = Scattered(tmp_path, account, **settings).start()
    try:
        site.manage("user", "create", "anna", "--role", "creator", "--password-stdin", stdin=PASSWORD)
        eventually(lambda: "Booting worker" in site.log("web"), 30, "web answers")
        yield site
    finally:
        site.end()
