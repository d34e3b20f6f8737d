"""The studio and the account, as their owner uses them."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser import Visit
from tests.frontend.site import Site


def test_a_row_follows_its_video_by_itself(site: Site, signed_in: Callable[..., Visit]) -> None:
    video = site.a_video(state="processing")
    page = signed_in().go("/studio")
    row = page.locator(f"[data-video='{video.id}'] [data-state-words]")
    expect(row).to_have_text(re.compile("Making it watchable"))
    site.move(video.id, "published")
    expect(row).to_have_text("Done")


def test_details_are_changed_and_a_mistake_loses_nothing(site: Site, signed_in: Callable[..., Visit]) -> None:
    video = site.a_video()
    page = signed_in().go(f"/studio/{video.id}")
    page.get_by_label("Title").fill("Two nights at sea")
    page.get_by_label("Language").fill("Oxford English")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Language")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Title")).to_have_value("Two nights at sea")
    page.get_by_label("Language").fill("en")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert site.services.catalog.get(video.id).title == "Two nights at sea"


def test_leaving_with_words_nobody_saved_asks_first(site: Site, signed_in: Callable[..., Visit]) -> None:
    page = signed_in().go(f"/studio/{site.a_video().id}")
    page.get_by_label("Title").fill("Two nights at sea")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.get_by_role("link", name="Home").click()
    page.wait_for_url("**/")
    assert asked == ["beforeunload"]


def test_deleting_asks_once_and_keeping_is_the_first_answer(site: Site, signed_in: Callable[..., Visit]) -> None:
    video = site.a_video(title="A night at sea")
    page = signed_in().go(f"/studio/{video.id}")
    page.get_by_role("button", name="Delete").click()
    question = page.get_by_role("dialog", name="Delete “A night at sea”?")
    expect(question.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Enter")
    expect(question).to_be_hidden()
    assert site.services.catalog.get(video.id).state == "published"
    page.get_by_role("button", name="Delete").click()
    question.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/studio")
    assert site.services.catalog.get(video.id).state == "deleted"


def test_a_token_is_shown_once(signed_in: Callable[..., Visit]) -> None:
    page = signed_in().go("/account")
    page.get_by_label("What is it for?").fill("backup")
    page.get_by_role("button", name="Make a token").click()
    expect(page.get_by_label("New token")).to_have_value(re.compile("^mtn_"))
    page.goto(page.url.replace("/tokens", ""))
    expect(page.get_by_label("New token")).to_have_count(0)
    page.get_by_role("button", name="Revoke backup").click()
    expect(page.get_by_text("backup", exact=True)).to_have_count(0)


def test_a_stranger_makes_an_account_and_is_signed_in(guest: Callable[..., Visit]) -> None:
    page = guest().go("/register")
    page.get_by_label("Name").fill("berta")
    page.get_by_label("E-mail").fill("berta@example.org")
    page.get_by_label("Password").fill("short")
    page.evaluate("document.querySelector('main form').noValidate = true")
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_label("Password")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Name")).to_have_value("berta")
    page.get_by_label("Password").fill("a longer one")
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_role("link", name="Upload").first).to_be_visible()


def test_a_wrong_password_is_told_without_telling_which_names_there_are(guest: Callable[..., Visit]) -> None:
    page = guest().go("/login")
    page.get_by_label("Name or e-mail").fill("nobody")
    page.get_by_label("Password").fill("wrong")
    page.locator("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("The name or the password is not right.")).to_be_visible()
    expect(page.get_by_label("Name or e-mail")).to_have_value("nobody")
