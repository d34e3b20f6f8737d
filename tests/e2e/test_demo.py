"""The demo: somebody signs in, uploads a real clip, watches it, finds it, and nothing is left to do."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from infra.prepare.places import SAMPLE
from shared.services import open_services
from shared.settings import Settings
from shared.tickets import QUEUES
from tests.browser import PHONE, Visit, until
from tests.infra.running import Site, eventually

PATIENCE = 60_000
BLOCK = 256 * 1024
"""Of the upload cut off in the middle: what a page sends passes through the test, which is slow for much."""


def play(page: Page) -> None:
    page.locator("[data-big-play]").click()
    until(page, "document.querySelector('video').currentTime > 0.5", seconds=30)


def signed_in(site: Site, visit: Callable[..., Visit], **options: object) -> Visit:
    visitor = visit(site.url, **options)
    visitor.sign_in("admin", (site.data / "first-password").read_text().strip())
    return visitor


def upload(page: Page, clip: Path) -> str:
    """Choose a file on the upload page, wait until it can be watched, and return its page's path."""
    page.locator("[data-files]").set_input_files(clip)
    row = page.locator("[data-uploads] > li")
    watch = row.locator("[data-watch]")
    expect(watch).to_be_visible(timeout=PATIENCE)
    return urlsplit(str(watch.get_attribute("href"))).path


def test_a_clip_goes_from_the_browser_to_the_screen_and_into_the_search(
    site: Site, visit: Callable[..., Visit]
) -> None:
    person = signed_in(site, visit)
    page = person.go("/upload")
    path = upload(page, SAMPLE)
    details = page.locator("[data-uploads] > li [data-form]")
    if not details.is_visible():
        page.locator("[data-uploads] > li [data-details] > summary").click()
    details.get_by_label("Title").fill("Rabbit in the meadow")
    details.get_by_label("Cast").fill("Bunny Buckley")
    details.get_by_label("Tags").fill("meadow, holiday")
    expect(page.locator("[data-uploads] > li [data-saved]")).to_have_text(re.compile("Saved"), timeout=PATIENCE)

    guest = visit(site.url)
    page = guest.go(path)
    expect(page).to_have_title(re.compile("Rabbit in the meadow"))
    play(page)
    assert page.evaluate("document.querySelector('video').buffered.start(0)") < 0.03, "picture and sound begin at zero"

    video = path.rsplit("/", 1)[-1]
    eventually(lambda: state(site, page, video) == "published", 60, "it is published")
    page = guest.go(path)
    play(page)
    before = page.evaluate("document.querySelector('video').videoHeight")
    # A quality takes over at the next segment, and this clip has only two: choose it while the first one plays.
    page.evaluate("(() => { const v = document.querySelector('video'); v.pause(); v.currentTime = 0; })()")
    until(page, "document.querySelector('video').currentTime < 0.1")
    wanted = "144p" if before != 144 else "480p"
    page.locator("media-settings-menu-button").click()
    page.locator("[data-quality]").click()
    page.get_by_role("menuitemradio", name=wanted).click()
    page.evaluate("document.querySelector('video').play()")
    until(page, f"document.querySelector('video').videoHeight === {wanted.removesuffix('p')}", seconds=30)

    for words in ("meadow", "buckley", "holiday", "Rabbit"):
        eventually(lambda words=words: found(guest, words, path), 20, f"{words} finds it")  # type: ignore[misc]
    assert guest.errors == []
    assert guest.elsewhere == []
    nothing_is_left(site)


def test_it_plays_on_a_phone_too(site: Site, visit: Callable[..., Visit], small_clip: Path) -> None:
    path = upload(signed_in(site, visit).go("/upload"), small_clip)
    phone = visit(site.url, viewport=PHONE, has_touch=True, is_mobile=True)
    page = phone.go(path)
    page.locator("[data-big-play]").tap()
    until(page, "document.querySelector('video').currentTime > 0.5", seconds=30)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_what_is_no_video_says_so_to_its_owner(site: Site, visit: Callable[..., Visit], tmp_path: Path) -> None:
    page = tmp_path / "page.mp4"
    page.write_text("<html><body>502 Bad Gateway</body></html>")
    person = signed_in(site, visit)
    shown = person.go("/upload")
    shown.locator("[data-files]").set_input_files(page)
    expect(shown.locator("[data-uploads] > li")).to_contain_text(
        "this is a web page, not a video", timeout=PATIENCE, ignore_case=True
    )


@pytest.mark.parametrize("own_site", [{"MATINEE_BLOCK_SIZE": str(BLOCK)}], indirect=True, ids=["small blocks"])
def test_an_upload_cut_off_in_the_middle_goes_on_when_the_same_file_is_chosen_again(
    own_site: Site, visit: Callable[..., Visit], small_clip: Path, tmp_path: Path
) -> None:
    clip = tmp_path / "long.mp4"
    clip.write_bytes(small_clip.read_bytes() + padding(12 * BLOCK))
    person = signed_in(own_site, visit)
    page = person.go("/upload")
    sent: list[str] = []
    stop_after = 2

    def count(route) -> None:
        sent.append(route.request.url)
        if len(sent) > stop_after:
            route.abort()
        else:
            route.continue_()

    page.route("**/blocks/*", count)
    page.locator("[data-files]").set_input_files(clip)
    eventually(lambda: page.wait_for_timeout(50) or len(sent) > stop_after, 30, "two blocks went out")
    context = page.context
    page.close()
    page = person.page = context.new_page()
    again: list[str] = []
    page.on("request", lambda request: again.append(request.url) if "/blocks/" in request.url else None)
    person.go("/upload")
    expect(page.locator("[data-unfinished-list] > li")).to_have_count(1, timeout=PATIENCE)
    page.locator("[data-files]").set_input_files(clip)
    expect(page.locator("[data-uploads] > li [data-watch]")).to_be_visible(timeout=PATIENCE)
    blocks = -(-clip.stat().st_size // BLOCK)
    assert 0 < len(set(again)) < blocks, "what was there was not sent again"


def padding(size: int) -> bytes:
    """A free box of that many bytes, which players skip."""
    return size.to_bytes(4, "big") + b"free" + bytes(size - 8)


def state(site: Site, page: Page, video: str) -> str:
    return str(page.request.get(f"{site.url}/api/v1/videos/{video}").json()["state"])


def found(guest: Visit, words: str, path: str) -> bool:
    page = guest.go(f"/search?q={words}")
    return page.locator(f"main a[href='{path}']").count() > 0


def nothing_is_left(site: Site) -> None:
    services = open_services(Settings(storage=f"local:{site.data}"), caller="test")
    eventually(lambda: list(services.catalog.active()) == [], 20, "no video is owed work")
    for queue in QUEUES:
        waiting = [message for message in services.queues.peek(queue, count=32) if '"sweep"' not in message.body]
        assert waiting == [], queue
    assert list(services.poison.list()) == []
