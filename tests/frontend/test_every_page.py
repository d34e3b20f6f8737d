"""What holds on every page: nothing goes wrong, nothing sticks out, nobody is kept out."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser import DESKTOP, PHONE, SMALLEST, Visit
from tests.frontend.site import Site

AXE = Path(__file__).parents[2] / "web" / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")
LONG = "A title that goes on and on Donaudampfschifffahrtsgesellschaftskapitän without an end in sight " * 2


@pytest.fixture
def pages(site: Site) -> list[str]:
    """Every page there is, with videos in every state on them."""
    shown = site.a_video(
        description="Waves.\n\n" + "A long evening on deck. " * 40, tags=("sea", "night"), actors=("Ada Lovelace",),
        directors=("Grace Hopper",), notes=("2 more audio tracks were left out", "the subtitles inside the file were left out"),
    )
    site.a_video(title=LONG.strip()[:200], privacy="unlisted", tags=("sea",))
    site.a_video(title="Another night", tags=("sea",))
    waiting = site.a_video(state="processing", title="Not yet")
    broken = site.a_video(state="failed", title="Broken", reason="this is not a video")
    site.a_video(state="uploading", title="Half way")
    watch = [f"/watch/{video.id}" for video in (shown, waiting, broken)]
    return ["/", "/search?q=night", "/search?q=zebra", "/search", "/channel/anna", "/upload", "/studio", f"/studio/{shown.id}",
            f"/studio/{broken.id}", "/account", f"/embed/{shown.id}", "/watch/11111111111", *watch]


def test_no_page_is_wider_than_its_window_or_goes_elsewhere_or_fails(pages: list[str], signed_in: Callable[..., Visit]) -> None:
    visitor = signed_in(viewport=PHONE)
    for path in [*pages, "/login", "/register"]:
        page = visitor.go(path)
        page.wait_for_load_state("networkidle") if "watch" not in path else page.wait_for_timeout(300)
        for viewport in (PHONE, SMALLEST, DESKTOP):
            page.set_viewport_size(viewport)  # type: ignore[arg-type]
            assert not sticks_out(page), f"{path} at {viewport['width']}"
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    unexpected = [error for error in visitor.errors if "404" not in error]
    assert (unexpected, visitor.elsewhere) == ([], [])


def test_no_page_opened_wide_or_narrow_is_wider_than_its_window(site: Site, guest: Callable[..., Visit]) -> None:
    """What scripts measure as a page opens is right from the start at any width."""
    video = site.a_video(title=LONG.strip()[:200])
    for viewport in (SMALLEST, DESKTOP):
        visitor = guest(viewport=viewport)
        for path in ("/", f"/watch/{video.id}"):
            page = visitor.go(path)
            page.wait_for_timeout(300)
            assert not sticks_out(page), f"{path} at {viewport['width']}"


def test_no_page_keeps_anybody_out(pages: list[str], signed_in: Callable[..., Visit]) -> None:
    visitor = signed_in(reduced_motion="reduce")
    assert shut(visitor, pages) == {}


def test_the_doors_keep_nobody_out(guest: Callable[..., Visit]) -> None:
    visitor = guest(reduced_motion="reduce")
    assert shut(visitor, ["/", "/login", "/register"]) == {}


def test_open_dialogs_menus_and_upload_rows_keep_nobody_out(site: Site, signed_in: Callable[..., Visit]) -> None:
    video = site.a_video()
    visitor = signed_in(reduced_motion="reduce")
    page = visitor.go(f"/watch/{video.id}")
    page.get_by_role("button", name="Share").click()
    assert barriers(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert barriers(page) == []
    page.keyboard.press("Escape")
    page.locator("summary").first.click()
    assert barriers(page) == []
    page = visitor.go("/upload")
    page.set_input_files("[data-files]", {"name": "sea.mp4", "mimeType": "video/mp4", "buffer": b"no film" * 1000})
    page.get_by_text("Checking").first.wait_for()
    assert barriers(page) == []


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_targets_are_large_enough_for_a_finger(
    pages: list[str], signed_in: Callable[..., Visit], viewport: dict[str, int]
) -> None:
    visitor = signed_in(viewport=viewport, has_touch=True, is_mobile=viewport is PHONE)
    small = {path: found for path in pages if (found := visitor.go(path).evaluate(_SMALL))}
    assert small == {}


def test_pages_work_before_scripts_run(site: Site, guest: Callable[..., Visit]) -> None:
    video = site.a_video(title="A night at sea")
    page = guest(java_script_enabled=False).go("/")
    page.get_by_label("Search videos").fill("night")
    page.get_by_label("Search videos").press("Enter")
    page.locator(".card-title a").click()
    player = page.locator("video")
    assert player.get_attribute("src") == f"/media/{video.id}/video.mp4"
    assert player.get_attribute("controls") is not None
    assert player.is_visible()
    assert page.locator("media-play-button").is_hidden()


def shut(visitor: Visit, paths: list[str]) -> dict[str, list[str]]:
    """What keeps somebody out, by page and colours: a page is opened once and looked at in both."""
    found: dict[str, list[str]] = {}
    for path in paths:
        page = visitor.go(path)
        page.wait_for_timeout(300)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            found |= {f"{path}, {scheme}": told} if (told := barriers(page)) else {}
    return found


def sticks_out(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


def barriers(page: Page) -> list[str]:
    """What axe finds grave, with where it is."""
    assert AXE.exists(), "axe-core is not installed: npm ci in web/frontend (infra/test does it)"
    page.evaluate(_AT_REST)
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in found["violations"]
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]


# A change of colours takes a frame and a millisecond even with reduced motion; a busy machine is long in drawing it.
_AT_REST = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  for (let still = 0; still < 3; still += 1) {
    await frame();
    const moving = document.getAnimations().filter((one) => one.playState === "running");
    await Promise.allSettled(moving.map((one) => one.finished));
    if (moving.length > 0) still = 0;
  }
}"""
# Links inside running text and what is only there for the keyboard may be smaller, as WCAG 2.2 has it.
_SMALL = """() => {
  const inText = (node) => node.closest("p, .card-line, .card-title, .videos-title, .footer, dd, li, nav.crumbs, legend") && node.matches("a:not(.button, .chip)");
  const targets = [...document.querySelectorAll("main a, main button, header a, header button, header summary, input:not([type=hidden]), textarea")];
  return targets.filter((node) => {
    const box = (node.closest("label") ?? node).getBoundingClientRect();
    if (box.width === 0 || inText(node) || node.matches(".unseen, .skip, [tabindex='-1']")) return false;
    return box.height < 38 || box.width < 38;
  }).map((node) => node.outerHTML.slice(0, 120));
}"""
