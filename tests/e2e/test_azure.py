"""The demo on an account of Azure Storage, with no disk between web and workers and no block through the web role."""

import json
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, build_opener, urlopen

import pytest
from playwright.sync_api import Page, Request, Route, expect

from infra.prepare.places import SAMPLE
from tests.azurite.running import KEY
from tests.browser import Visit, until
from tests.e2e.scattered import PASSWORD, Scattered
from tests.infra.running import eventually

PATIENCE = 60_000
redirecting = pytest.mark.parametrize("scattered", ["redirecting"], indirect=True)


def signed_in(site: Scattered, visit: Callable[..., Visit]) -> Visit:
    person = visit(site.url)
    person.sign_in("anna", PASSWORD)
    return person


def upload(page: Page, clip: Path) -> str:
    """Returns the video's id once it can be watched."""
    page.locator("[data-files]").set_input_files(clip)
    watch = page.locator("[data-uploads] > li [data-watch]")
    expect(watch).to_be_visible(timeout=PATIENCE)
    return urlsplit(str(watch.get_attribute("href"))).path.rsplit("/", 1)[-1]


def asked(site: Scattered, path: str) -> tuple[int, bytes]:
    """An answer of the site itself, its redirects not followed."""

    try:
        with build_opener(_Stay).open(site.url + path) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return


@redirecting
def test_blocks_go_to_the_store_and_media_come_from_it_with_no_disk_between_the_processes(
    scattered: Scattered, visit: Callable[..., Visit]
) -> None:
    person = signed_in(scattered, visit)
    store = scattered.account.blob
    sent: list[Request] = []
    person.page.on("request", lambda request: sent.append(request))
    video = upload(person.go("/upload"), SAMPLE)
    puts = [request.url for request in sent if request.method == "PUT"]
    assert puts
    assert all(url.startswith(f"{store}/sources/{video}/") for url in puts), "blocks never pass the web role"

    page = person.go(f"/watch/{video}")
    page.locator("[data-big-play]").click()
    until(page, "document.querySelector('video').currentTime > 0.5", seconds=30)
    segments = [request.url for request in sent if urlsplit(request.url).path.endswith(".m4s")]
    assert any(url.startswith(f"{store}/media/{video}/") for url in segments), "media come by signed links"
    assert person.errors == []

    eventually(lambda: state(scattered, video) == "published", 60, "it is published")
    eventually(lambda: video in found(scattered, "Rabbit OR bunny OR bigbuckbunny"), 30, "it is found by its title")
    no_disk_is_shared(scattered)
    logs = "".join(scattered.log(path.stem) for path in scattered.logs.iterdir())
    assert KEY not in logs + page.content() + "".join(request.url for request in sent), "the key stays on the server"
    assert "sig=" not in logs, "nor is a signature written down"


def no_disk_is_shared(site: Scattered) -> None:
    """Each process worked from its own empty folder; no video's bytes are left in any."""
    machines = sorted(path.name for path in site.machines.iterdir())
    assert {"web", "ingest", "transcode", "index", "housekeeping"} <= set(machines)
    for machine in machines:
        left = [path for path in site.files(machine) if path.suffix in (".mp4", ".m4s", ".ts", ".jpg")]
        assert left == [], machine
        assert not any(path.name.endswith(".db") for path in site.files(machine)), machine


@redirecting
def test_an_address_for_blocks_that_ran_out_is_asked_for_again(
    scattered: Scattered, visit: Callable[..., Visit], small_clip: Path
) -> None:
    person = signed_in(scattered, visit)
    page = person.go("/upload")
    refused: list[str] = []

    def refuse_once(route: Route) -> None:
        if route.request.method == "PUT" and not refused:
            refused.append(route.request.url)
            # As the service answers a link whose time is over.
            route.fulfill(status=403, body="<Error><Code>AuthenticationFailed</Code></Error>",
                          headers={"Access-Control-Allow-Origin": "*"})  # fmt: skip
        else:
            route.continue_()

    page.route(f"{scattered.account.blob}/**", refuse_once)
    video = upload(page, small_clip)
    assert refused
    assert state(scattered, video) in ("playable", "published")


@pytest.mark.parametrize(("scattered", "way"), [("redirecting", 302), ("through web", 200)], indirect=["scattered"])
def test_what_is_private_stays_so_whichever_way_media_come(
    scattered: Scattered, visit: Callable[..., Visit], small_clip: Path, way: int
) -> None:
    person = signed_in(scattered, visit)
    video = upload(person.go("/upload"), small_clip)
    playlist = f"/media/{video}/{first_line(scattered, f'/media/{video}/master.m3u8')}"
    segment = f"{playlist.rpartition('/')[0]}/{first_line(scattered, playlist)}"
    assert asked(scattered, segment)[0] == way
    with urlopen(scattered.url + segment) as whole:
        assert whole.headers["Cache-Control"].endswith("max-age=31536000, immutable"), "a segment never changes"
    hidden = person.page.evaluate(
        """async ([video]) => (await fetch(`/api/v1/videos/${video}`, {
          method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ privacy: "private" }),
        })).status""",
        [video],
    )
    assert hidden == 200
    for path in (segment, playlist, f"/media/{video}/master.m3u8", f"/watch/{video}"):
        assert asked(scattered, path)[0] == 404, path
    direct = f"{scattered.account.blob}{segment}"
    with pytest.raises(HTTPError) as refused:
        urlopen(direct)
    refused.value.close()
    assert refused.value.code in (403, 404), "nor does the store give it without a signed link"


def first_line(site: Scattered, playlist: str) -> str:
    """The first address a playlist names."""
    status, text = asked(site, playlist)
    assert status == 200
    return next(line for line in text.decode().splitlines() if line and not line.startswith("#"))


def state(site: Scattered, video: str) -> str:
    return str(json.loads(asked(site, f"/api/v1/videos/{video}")[1])["state"])


def found(site: Scattered, words: str) -> list[str]:
    query = quote(words)
    return [one["id"] for one in json.loads(asked(site, f"/api/v1/search?q={query}")[1])["videos"]]
