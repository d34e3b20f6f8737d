"""A site moved from this machine to an account of Azure Storage: everybody finds there what they left here."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.azurite.running import KEY, Account
from tests.browser import Visit, until
from tests.e2e.test_demo import found, play, signed_in, state, upload
from tests.infra.running import Site, eventually


@pytest.fixture
def moved(tmp_path: Path, account: Account) -> Iterator[Site]:
    there = Site(tmp_path / "data", MATINEE_STORAGE=account.connection_string)
    yield there
    there.end()


@pytest.mark.timeout(240)
def test_a_video_uploaded_here_plays_there(
    own_site: Site, moved: Site, account: Account, visit: Callable[..., Visit], small_clip: Path
) -> None:
    site = own_site
    person = signed_in(site, visit)
    path = upload(person.go("/upload"), small_clip)
    video = path.rsplit("/", 1)[-1]
    eventually(lambda: state(site, person.page, video) == "published", 60, "it is published")
    eventually(lambda: found(person, "meadow", path), 30, "it is found")
    assert site.stop() == 0
    copied = moved.manage("storage", "copy", f"local:{site.data}", "env:MATINEE_STORAGE", "--check")
    assert copied.returncode == 0, copied.stderr
    assert "the same on both sides" in copied.stdout
    assert KEY not in copied.stdout + copied.stderr

    moved.start("--no-sample").ready()
    guest = visit(moved.url)
    page = guest.go(path)
    play(page)
    until(page, "document.querySelector('video').videoWidth > 0")
    eventually(lambda: found(guest, "meadow", path), 30, "it is found there")
    assert guest.errors == []
    signed_in(moved, visit)
    assert moved.stop() == 0
    assert moved.processes() == {}
