"""What the browser tests share: a film, a site, and people signed in at it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shared.services import open_services
from shared.settings import Settings
from tests.browser import Visit
from tests.frontend.film import Film, make
from tests.frontend.site import PASSWORD, Site

BUILT = Path(__file__).parents[2] / "web" / "static" / "build"


@pytest.fixture(scope="session")
def film(tmp_path_factory: pytest.TempPathFactory) -> Film:
    return make(tmp_path_factory.mktemp("film"))


@contextmanager
def serving(folder: Path, film: Film) -> Iterator[Site]:
    assert (BUILT / "site.js").exists(), "the browser's files are not built: web/frontend/build (infra/test does it)"
    settings = Settings(
        storage=f"local:{folder}/data", secret_key="a key for tests", block_size=65_536, min_free=0,
        max_upload=20_000_000,
    )
    running = Site(open_services(settings, caller="test"), film)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def site(tmp_path: Path, film: Film) -> Iterator[Site]:
    with serving(tmp_path, film) as running:
        yield running


@pytest.fixture
def guest(site: Site, visit: Callable[..., Visit]) -> Callable[..., Visit]:
    """A person who is not signed in."""
    return lambda **options: visit(site.address, **options)


@pytest.fixture
def signed_in(site: Site, guest: Callable[..., Visit]) -> Callable[..., Visit]:
    def make(name: str = "anna", **options: object) -> Visit:
        site.person(name)
        visitor = guest(**options)
        visitor.enter(name, PASSWORD)
        return visitor

    return make
