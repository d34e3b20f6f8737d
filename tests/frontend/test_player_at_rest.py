"""What keys, and the bar under the picture, do on the page of a video nobody has started.

The page is opened once for all of it, and put back to rest before each test.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import until, visiting
from tests.frontend.conftest import serving
from tests.frontend.film import Film
from tests.frontend.test_player import SECONDS, read, ready


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, film: Film, browser: Browser) -> Iterator[Page]:
    with serving(tmp_path_factory.mktemp("site"), film) as site, visiting(browser) as visit:
        yield ready(visit(site.address).go(f"/watch/{site.a_video().id}"))


@pytest.fixture
def page(opened: Page) -> Page:
    opened.mouse.move(5, 300)
    opened.evaluate(_TO_REST)
    until(opened, f"(() => {{ {_VIDEO}; return video.paused && !video.seeking && video.currentTime === 0; }})()")
    return opened


@pytest.mark.parametrize(
    ("key", "what", "value"),
    [
        ("k", "paused", False), (" ", "paused", False), ("l", "currentTime", 10), ("ArrowRight", "currentTime", 5),
        ("5", "currentTime", SECONDS / 2), ("m", "muted", True), (">", "playbackRate", 1.25), ("<", "playbackRate", 0.75),
        (".", "currentTime", 1 / 25),
    ],
)
def test_a_key_works_anywhere_on_the_page(page: Page, key: str, what: str, value: float | bool) -> None:
    page.keyboard.press(key)
    expected = f"Math.abs(video.{what} - {value}) < 0.02" if isinstance(value, float | int) and not isinstance(value, bool) else (
        f"video.{what} === {str(value).lower()}"
    )
    until(page, f"(() => {{ const video = document.querySelector('video'); return {expected}; }})()")


def test_keys_stay_out_of_the_way_of_somebody_writing(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("mfk km")
    expect(page.get_by_label("Search videos")).to_have_value("mfk km")
    assert (read(page, "muted"), read(page, "paused")) == (False, True)


def test_a_question_mark_shows_the_keys(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()


def test_up_and_down_are_the_volume_only_with_the_focus_in_the_player(page: Page) -> None:
    page.keyboard.press("ArrowDown")
    assert read(page, "volume") == 1
    page.locator("media-play-button").focus()
    page.keyboard.press("ArrowDown")
    assert read(page, "volume") == pytest.approx(0.95)


def test_every_control_can_be_reached_by_key(page: Page) -> None:
    seen = set()
    page.locator("main").focus()
    for _ in range(14):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.localName"))
    assert {"media-play-button", "media-mute-button", "media-time-range", "media-settings-menu-button",
            "media-fullscreen-button", "media-pip-button", "media-volume-range"} <= seen


def test_the_bar_shows_small_pictures(page: Page) -> None:
    box = page.locator("media-time-range").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2)
    page.mouse.move(box["x"] + box["width"] * 0.61, box["y"] + box["height"] / 2)
    until(
        page,
        "document.querySelector('media-time-range').getAttribute('mediapreviewimage')?.endsWith('board.jpg')"
        " || document.querySelector('media-time-range').mediaPreviewImage?.includes('board.jpg')"
    )


def test_sharing_gives_the_link_from_the_moment_on_view(page: Page) -> None:
    page.keyboard.press("5")
    page.get_by_role("button", name="Share").click()
    page.get_by_label("Start at").check()
    expect(page.get_by_label("Link")).to_have_value(f"{page.url}?t=6")


_VIDEO = "const video = document.querySelector('video')"
_TO_REST = f"""() => {{
  {_VIDEO};
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  for (const field of document.querySelectorAll("[type=search]")) field.value = "";
  document.activeElement.blur();
  video.pause();
  Object.assign(video, {{currentTime: 0, volume: 1, playbackRate: 1, muted: false}});
}}"""
