"""The frame: keys, menu, side bar, appearance, further pages."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser import PHONE, Visit
from tests.frontend.site import Site


def test_the_first_tab_skips_to_the_content(guest: Callable[..., Visit]) -> None:
    page = guest().go("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_a_slash_goes_to_the_search_field_and_is_not_written_there(guest: Callable[..., Visit]) -> None:
    page = guest().go("/")
    page.keyboard.press("/")
    field = page.get_by_label("Search videos")
    expect(field).to_be_focused()
    expect(field).to_have_value("")


def test_what_has_the_focus_shows_it(guest: Callable[..., Visit]) -> None:
    page = guest().go("/")
    for _ in range(6):
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_the_menu_opens_by_key_and_closes_by_escape_to_where_it_was_opened(signed_in: Callable[..., Visit]) -> None:
    page = signed_in().go("/")
    opener = page.locator("header summary")
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
    expect(opener).to_be_focused()


def test_signing_out_is_in_the_menu(signed_in: Callable[..., Visit]) -> None:
    page = signed_in().go("/")
    page.locator("header summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()


def test_light_and_dark_follow_the_system_until_somebody_chooses(guest: Callable[..., Visit]) -> None:
    visitor = guest(color_scheme="dark")
    page = visitor.go("/")
    night = background(page)
    page.locator("header summary").click()
    page.get_by_text("Light", exact=True).click()
    day = background(page)
    assert lightness(day) > lightness(night)
    page = visitor.go("/search")
    assert background(page) == day
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.locator("header summary").click()
    page.get_by_text("System", exact=True).click()
    assert background(page) == night


def test_the_side_bar_folds_and_stays_folded(guest: Callable[..., Visit]) -> None:
    visitor = guest()
    page = visitor.go("/")
    expect(page.get_by_role("navigation", name="Places")).to_be_visible()
    page.get_by_role("button", name="Side bar").click()
    expect(page.get_by_role("navigation", name="Places")).to_be_hidden()
    expect(visitor.go("/search").get_by_role("navigation", name="Places")).to_be_hidden()


def test_a_phone_has_no_side_bar_but_its_places_in_the_menu(signed_in: Callable[..., Visit]) -> None:
    page = signed_in(viewport=PHONE).go("/")
    expect(page.get_by_role("navigation", name="Places")).to_be_hidden()
    page.locator("header summary").click()
    expect(page.get_by_role("link", name="Studio")).to_be_visible()


def test_older_videos_load_in_place_and_the_focus_goes_to_the_first_of_them(site: Site, guest: Callable[..., Visit]) -> None:
    for number in range(26):
        site.a_video(title=f"Night {number}")
    page = guest().go("/")
    expect(page.locator(".card")).to_have_count(24)
    page.get_by_role("link", name="Older videos").click()
    expect(page.locator(".card")).to_have_count(26)
    expect(page.locator(".card").nth(24).locator(".card-title a")).to_be_focused()
    expect(page.get_by_role("link", name="Older videos")).to_have_count(0)


def test_an_empty_house_says_what_to_do(guest: Callable[..., Visit]) -> None:
    expect(guest().go("/").get_by_role("link", name="Upload a video")).to_be_visible()


def background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def lightness(colour: str) -> float:
    return float(colour.removeprefix("oklch(").split()[0])
