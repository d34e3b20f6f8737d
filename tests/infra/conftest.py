"""Sites for the tests of what starts things."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from infra.prepare import sample
from infra.prepare.places import SAMPLE
from tests.infra.running import Site


@pytest.fixture
def a_site(tmp_path: Path) -> Iterator[Callable[..., Site]]:
    """Makes sites that are ended with the test; `name` tells their data folders apart."""
    made: list[Site] = []

    def make(name: str = "data", **settings: str) -> Site:
        made.append(Site(tmp_path / name, **settings))
        return made[-1]

    yield make
    for site in made:
        site.end()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One site without videos, for tests that leave it as it was."""
    site = Site(tmp_path_factory.mktemp("running")).start("--no-sample").ready()
    yield site
    site.end()


@pytest.fixture(scope="session")
def clip() -> Path:
    if not sample.is_fetched():
        sample.fetch()
    return SAMPLE
