"""Both buses, each real, and ways to break them."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from shared.wake import Bus
from shared.wake.redis import RedisBus
from shared.wake.sockets import SocketBus
from tests.wake.server import a_redis


@dataclass(frozen=True)
class Way:
    """A bus, as any process of the site opens it; `wake` is the setting that names it."""

    wake: str
    open: Callable[[], Bus]
    damage: Callable[[], None]
    mend: Callable[[], None]


@pytest.fixture
def folder() -> Iterator[Path]:
    """With a path short enough for sockets."""
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


@pytest.fixture(params=["redis", "unix"])
def way(request: pytest.FixtureRequest, tmp_path: Path, folder: Path) -> Iterator[Way]:
    if request.param == "unix":
        place = folder / "wake"
        yield Way("unix", lambda: SocketBus(place), lambda: shutil.rmtree(place, ignore_errors=True), lambda: None)
        return
    with a_redis(tmp_path) as server:
        yield Way(server.url, lambda: RedisBus(server.url), server.end, server.start_again)
