"""The whole site: as infra/up starts it, ended as by Ctrl-C; or scattered over machines that share only an account."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.azurite.running import Azurite
from tests.e2e.scattered import PASSWORD, Scattered
from tests.infra.running import UP, Site, eventually
from tests.workers.clips import a_clip


@pytest.fixture(scope="session")
def small_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Encoded in no time, for what is not about encoding."""
    path = tmp_path_factory.mktemp("clip") / "meadow.mp4"
    path.write_bytes(a_clip(seconds=3, width=426, height=240))
    return path


@contextmanager
def started(folder: Path, **settings: str) -> Iterator[Site]:
    running = Site(folder / "data", **settings).start("--no-sample", command=UP).ready()
    try:
        yield running
        assert running.stop() == 0
        assert running.processes() == {}
    finally:
        running.end()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One for all tests of a file."""
    with started(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture
def own_site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """One for a test that ends it, or has settings of its own (`indirect`)."""
    with started(tmp_path, **getattr(request, "param", {})) as running:
        yield running


MEDIA_COME = {"redirecting": {"MATINEE_REDIRECT_MEDIA": "on"}, "through web": {}}


@pytest.fixture(scope="module")
def scattered(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, emulator: Azurite
) -> Iterator[Scattered]:
    """One for all tests of a file in which media come the same way, a key of MEDIA_COME (`indirect`)."""
    folder = tmp_path_factory.mktemp("scattered")
    site = Scattered(folder, emulator.account(), **MEDIA_COME[request.param]).start()
    try:
        site.manage("user", "create", "anna", "--role", "creator", "--password-stdin", stdin=PASSWORD)
        eventually(lambda: "Booting worker" in site.log("web"), 30, "web answers")
        yield site
    finally:
        site.end()
