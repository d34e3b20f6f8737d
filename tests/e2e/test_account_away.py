"""The account cannot be reached for a while: pages say so within seconds, no worker dies of it, and work goes on after."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.azurite.cable import Cable, cable
from tests.azurite.running import Account
from tests.bench.site import Client
from tests.e2e.scattered import PASSWORD, Scattered
from tests.infra.running import eventually

AWAY = 12.0


@pytest.fixture
def way(account: Account) -> Iterator[Cable]:
    with cable(account) as laid:
        yield laid


@pytest.fixture
def site(tmp_path: Path, way: Cable) -> Iterator[Scattered]:
    site = Scattered(tmp_path, way.account).start()
    try:
        site.manage("user", "create", "anna", "--password-stdin", stdin=PASSWORD)
        yield site
    finally:
        way.cut()
        way.mend()
        site.end()


@pytest.mark.timeout(240)
def test_nothing_is_lost_and_nobody_waits_long_while_the_account_is_away(
    site: Scattered, way: Cable, small_clip: Path
) -> None:
    client = Client(site.url, site.manage("token", "create", "anna").stdout.strip())
    eventually(lambda: "Booting worker" in site.log("web"), 30, "web answers")
    video = client.upload(small_clip)
    way.cut()
    site.kill_a_child_of("web")  # so that one begins its life while there is no account
    began = time.monotonic()
    while time.monotonic() - began < AWAY:
        status, took, retry = answer(f"{site.url}/watch/{video}")
        assert status == 503
        assert took < 3.5
        assert retry
        time.sleep(1)
    way.mend()
    eventually(lambda: client_says(client, video) == "published", 120, "it is published after all")
    assert [name for name in site.running() if not site.running()[name]] == [], "none died of it"
    other = client.upload(small_clip)
    eventually(lambda: client_says(client, other) == "published", 120, "and so is the next")


def answer(url: str) -> tuple[int, float, str | None]:
    """Status, seconds, and when to come again."""
    began = time.monotonic()
    try:
        with urlopen(Request(url), timeout=30) as page:
            return page.status, time.monotonic() - began, None
    except HTTPError as error:
        with error:
            return error.code, time.monotonic() - began, error.headers["Retry-After"]


def client_says(client: Client, video: str) -> str:
    try:
        return str(client.video(video)["state"])
    except (RuntimeError, OSError, json.JSONDecodeError):
        return "no answer"


@pytest.mark.timeout(120)
def test_every_process_ends_when_told_though_the_account_is_away(site: Scattered, way: Cable) -> None:
    eventually(lambda: "listening" in site.log("index"), 30, "a worker listens")
    eventually(lambda: answer(f"{site.url}/")[0] == 200, 30, "web answers")
    way.cut()
    time.sleep(3)  # by now each is in the middle of asking again
    began = time.monotonic()
    site.end()
    assert time.monotonic() - began < 12
