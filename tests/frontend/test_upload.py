"""The upload page, against a real server that is stopped, filled and restarted under it."""

import os
import re
import shutil
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from shared import uploads
from tests.browser import Visit, until
from tests.frontend.site import PASSWORD, Site

BLOCK = 65_536
Disk = namedtuple("Disk", "total used free")


@pytest.fixture
def a_file(tmp_path: Path) -> Callable[..., Path]:
    def make(name: str = "night_at_sea.mp4", blocks: int = 8) -> Path:
        path = tmp_path / name
        path.write_bytes(os.urandom(blocks * BLOCK - 100) if blocks else b"")
        return path

    return make


def test_a_file_goes_up_and_its_row_follows_it_until_it_can_be_watched(
    site: Site, signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    visitor = signed_in()
    page = visitor.go("/upload")
    row = pick(page, a_file())
    expect(state(row)).to_have_text(re.compile("^Checking"))
    video_id = the_video(site)
    site.move(video_id, "processing")
    site.progress(video_id, "first", 0.5)
    expect(state(row)).to_have_text("Making it watchable (25 %)")
    site.move(video_id, "playable")
    expect(state(row)).to_have_text(re.compile("Watchable now"))
    expect(row.get_by_role("link", name="Watch")).to_have_attribute("href", f"{site.address}/watch/{video_id}")
    expect(row.locator("[data-picture]")).to_have_attribute("src", f"/media/{video_id}/poster.jpg")
    site.move(video_id, "published")
    expect(state(row)).to_have_text("Done")
    assert (visitor.errors, visitor.elsewhere) == ([], [])


def test_every_byte_arrives_in_its_place(
    site: Site, signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    path = a_file(blocks=20)
    page = signed_in().go("/upload")
    row = pick(page, path)
    expect(state(row)).to_have_text(re.compile("^Checking"))
    wait_for_commit(site, page)
    video = site.services.catalog.get(the_video(site))
    assert b"".join(site.services.blobs.read("sources", video.source)) == path.read_bytes()


def test_files_dropped_anywhere_each_get_a_row(site: Site, signed_in: Callable[..., Visit]) -> None:
    page = signed_in().go("/upload")
    page.evaluate("""() => {
      const transfer = new DataTransfer();
      for (const name of ["one.mp4", "two.mp4", "three.mp4"]) transfer.items.add(new File([name.repeat(50)], name, {type: "video/mp4"}));
      const footer = document.querySelector(".footer");
      for (const kind of ["dragenter", "dragover", "drop"]) footer.dispatchEvent(new DragEvent(kind, {dataTransfer: transfer, bubbles: true, cancelable: true}));
    }""")
    for name in ("one", "two", "three"):
        expect(state(page.locator(".upload").filter(has_text=name))).to_have_text(re.compile("^Checking"))


def test_details_are_saved_as_they_are_typed(
    site: Site, signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    page = signed_in().go("/upload")
    row = pick(page, a_file())
    expect(row.get_by_label("Title")).to_have_value("night at sea")
    row.get_by_label("Title").fill("A night at sea, told twice")
    row.get_by_label("Tags").fill("sea, night")
    row.get_by_label("Cast").fill("Ada Lovelace")
    row.get_by_text("Unlisted").click()
    expect(row.locator("[data-saved]")).to_have_text("Saved")
    until(page, "!document.querySelector('[data-saved]').textContent.includes('…')")
    page.wait_for_timeout(1000)
    video = site.services.catalog.get(the_video(site))
    assert (video.title, video.tags, video.actors, video.privacy) == (
        "A night at sea, told twice", ("sea", "night"), ("Ada Lovelace",), "unlisted",
    )
    expect(row.locator("h2")).to_have_text("A night at sea, told twice")


def test_a_detail_that_cannot_be_so_is_told_at_its_field_and_keeps_what_was_typed(
    signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    row = pick(signed_in().go("/upload"), a_file())
    row.get_by_label("Language").fill("Oxford English")
    expect(row.locator(".field-error")).to_contain_text("A code such as en")
    expect(row.get_by_label("Language")).to_have_value("Oxford English")
    row.get_by_label("Language").fill("en")
    expect(row.locator(".field-error")).to_have_count(0)


def test_the_link_can_be_copied_from_the_first_second(
    site: Site, signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    page = signed_in(permissions=["clipboard-read", "clipboard-write"]).go("/upload")
    hold_blocks(page)
    row = pick(page, a_file())
    row.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{site.address}/watch/{the_video(site)}"


def test_pause_and_resume_by_key(signed_in: Callable[..., Visit], a_file: Callable[..., Path]) -> None:
    page = signed_in().go("/upload")
    hold_blocks(page)
    row = pick(page, a_file())
    row.get_by_role("button", name="Pause").focus()
    page.keyboard.press("Enter")
    expect(state(row)).to_have_text(re.compile("^Paused at"))
    expect(row.get_by_role("button", name="Resume")).to_be_focused()
    page.unroute_all(behavior="ignoreErrors")
    page.keyboard.press("Enter")
    expect(state(row)).to_have_text(re.compile("^Checking"))


def test_cancelling_leaves_nothing_behind(
    site: Site, signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    page = signed_in().go("/upload")
    hold_blocks(page)
    row = pick(page, a_file())
    row.get_by_role("button", name="Copy link").wait_for()
    video_id = the_video(site)
    row.get_by_role("button", name="Cancel").click()
    expect(page.locator(".upload")).to_have_count(0)
    until(page, f"fetch('/api/v1/videos/{video_id}').then(answer => answer.status === 404)")


def test_after_a_reload_the_same_file_goes_on_where_it_stopped(
    site: Site, signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    visitor = signed_in()
    page = visitor.go("/upload")
    path = a_file(blocks=12)
    hold_blocks(page, after=5)
    pick(page, path)
    staged = wait_for_blocks(site, page, 5)
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.unroute_all(behavior="ignoreErrors")
    expect(page.get_by_text("Choose the same file again to go on")).to_be_visible()
    expect(page.locator(".unfinished-item")).to_contain_text(re.compile("[1-9][0-9] % of"))
    sent = note_blocks(page)
    row = pick(page, path)
    expect(state(row)).to_have_text(re.compile("^Checking"))
    assert len(sent) <= 12 - staged
    expect(page.locator(".unfinished-item")).to_have_count(0)
    wait_for_commit(site, page)
    assert b"".join(site.services.blobs.read("sources", f"{the_video(site)}/g1")) == path.read_bytes()


def test_a_crashed_browser_that_remembers_nothing_goes_on_as_well(
    site: Site, signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    path = a_file(blocks=12)
    page = signed_in().go("/upload")
    hold_blocks(page, after=5)
    pick(page, path)
    wait_for_blocks(site, page, 5)
    first = the_video(site)
    page.context.close()
    page = signed_in().go("/upload")
    expect(page.locator(".unfinished-item")).to_have_count(1)
    row = pick(page, path)
    expect(state(row)).to_have_text(re.compile("^Checking"))
    assert the_video(site) == first


def test_another_file_of_the_same_name_is_another_upload(
    site: Site, signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    page = signed_in().go("/upload")
    hold_blocks(page, after=5)
    path = a_file(blocks=12)
    pick(page, path)
    wait_for_blocks(site, page, 5)
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.unroute_all(behavior="ignoreErrors")
    os.utime(path, (1_000_000, 1_000_000))
    expect(page.locator(".unfinished-item")).to_have_count(1)
    expect(state(pick(page, path))).to_have_text(re.compile("^Checking"))
    assert len(videos(site)) == 2


def test_a_restarted_server_is_waited_for(
    site: Site, signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    page = signed_in().go("/upload")
    row = pick(page, a_file(blocks=1))
    expect(state(row)).to_have_text(re.compile("^Checking"))
    hold_blocks(page, after=2)
    row = pick(page, a_file("second.mp4", blocks=12))
    wait_for_blocks(site, page, 2)
    site.stop()
    page.unroute_all(behavior="ignoreErrors")
    expect(row.get_by_text("Connection lost, will go on by itself")).to_be_visible(timeout=20_000)
    site.start()
    expect(state(row)).to_have_text(re.compile("^Checking"), timeout=30_000)


def test_a_lost_connection_is_said_and_the_upload_goes_on_by_itself(
    site: Site, signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    page = signed_in().go("/upload")
    hold_blocks(page, after=2)
    row = pick(page, a_file(blocks=12))
    wait_for_blocks(site, page, 2)
    page.context.set_offline(True)
    page.unroute_all(behavior="ignoreErrors")
    expect(row.get_by_text("Connection lost, will go on by itself")).to_be_visible()
    page.context.set_offline(False)
    expect(state(row)).to_have_text(re.compile("^Checking"), timeout=20_000)


def test_a_connection_lost_before_the_first_byte_is_said_too(
    signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    """What makes the checksums is fetched when the first is needed."""
    page = signed_in().go("/upload")
    page.route("**/md5_worker*.js", lambda route: route.abort("internetdisconnected"))
    row = pick(page, a_file(blocks=2))
    expect(row.get_by_text("Connection lost, will go on by itself")).to_be_visible()
    page.unroute_all(behavior="ignoreErrors")
    expect(state(row)).to_have_text(re.compile("^Checking"), timeout=20_000)


def test_a_full_disk_is_said_and_the_upload_goes_on_when_there_is_room(
    site: Site, signed_in: Callable[..., Visit], a_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = signed_in()
    visitor.page.clock.install()
    page = visitor.go("/upload")
    hold_blocks(page, after=2)
    row = pick(page, a_file(blocks=12))
    wait_for_blocks(site, page, 2)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(10**12, 10**12, -1))
    page.unroute_all(behavior="ignoreErrors")
    expect(row.get_by_text("The server's disk is full. What was sent is safe")).to_be_visible()
    monkeypatch.undo()
    page.clock.fast_forward("01:30")
    expect(state(row)).to_have_text(re.compile("^Checking"), timeout=20_000)


def test_somebody_signed_out_meanwhile_signs_in_again_and_it_goes_on(
    site: Site, signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    visitor = signed_in()
    page = visitor.go("/upload")
    hold_blocks(page, after=2)
    row = pick(page, a_file(blocks=12))
    wait_for_blocks(site, page, 2)
    page.context.clear_cookies()
    page.unroute_all(behavior="ignoreErrors")
    expect(row.get_by_text("You are signed out")).to_be_visible()
    expect(row.get_by_role("link", name="Sign in")).to_be_visible()
    Visit(page.context.new_page(), site.address).sign_in("anna", PASSWORD)
    expect(state(row)).to_have_text(re.compile("^Checking"), timeout=30_000)


@pytest.mark.parametrize(
    ("name", "size", "sentence"),
    [
        ("empty.mp4", 0, "This file is empty"),
        ("huge.mp4", 20_000_001, "This file is too large. At most 20.0 MB"),
        ("letter.txt", 5000, "This does not look like a video"),
    ],
)
def test_what_is_no_video_is_told_in_words(
    signed_in: Callable[..., Visit], tmp_path: Path, name: str, size: int, sentence: str
) -> None:
    path = tmp_path / name
    path.write_bytes(b"x" * size)
    visitor = signed_in()
    row = pick(visitor.go("/upload"), path)
    expect(row.get_by_text(sentence)).to_be_visible()
    assert visitor.errors == []


def test_a_video_that_could_not_be_made_says_why(
    site: Site, signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    row = pick(signed_in().go("/upload"), a_file())
    expect(state(row)).to_have_text(re.compile("^Checking"))
    site.move(the_video(site), "failed", reason="this is not a video that can be read")
    expect(row.get_by_text("This is not a video that can be read.")).to_be_visible()
    expect(state(row)).to_have_text("Could not be made watchable")


def test_leaving_while_bytes_flow_asks_first_and_later_does_not(
    signed_in: Callable[..., Visit], a_file: Callable[..., Path]
) -> None:
    page = signed_in().go("/upload")
    hold_blocks(page)
    row = pick(page, a_file())
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.locator("body").click(position={"x": 5, "y": 300})
    page.evaluate("setTimeout(() => { location.href = '/' })")
    page.wait_for_timeout(500)
    assert asked == ["beforeunload"]
    page.unroute_all(behavior="ignoreErrors")
    expect(state(row)).to_have_text(re.compile("^Checking"), timeout=20_000)
    page.wait_for_timeout(300)
    page.goto(page.url.replace("/upload", "/studio"))
    assert asked == ["beforeunload"]


def test_an_unfinished_upload_can_be_discarded(
    site: Site, signed_in: Callable[..., Visit]
) -> None:
    video = site.a_video(state="uploading", title="Half way")
    page = signed_in().go("/upload")
    page.get_by_role("button", name="Discard").click()
    expect(page.locator(".unfinished-item")).to_have_count(0)
    assert site.services.catalog.get(video.id).state == "deleted"


def pick(page: Page, path: Path) -> Locator:
    page.set_input_files("[data-files]", path)
    return page.locator(".upload").last


def state(row: Locator) -> Locator:
    return row.locator("[data-state]")


def videos(site: Site) -> list[str]:
    found, _ = site.services.catalog.channel(site.person("anna").id)
    return [video.id for video in found]


def wait_for_commit(site: Site, page: Page) -> None:
    """The page says "Checking" when the last byte is out; the server's answer to the commit comes after."""
    for _ in range(200):
        if site.services.catalog.get(the_video(site)).state != "uploading":
            return
        page.wait_for_timeout(50)
    raise AssertionError("no commit after ten seconds")


def the_video(site: Site) -> str:
    return videos(site)[0]


def hold_blocks(page: Page, after: int = 0) -> None:
    """Let so many blocks pass; the others hang in the network, as if it were very slow."""
    passed: list[Request] = []

    def hold(route) -> None:
        if route.request.method == "PUT" and len(passed) >= after:
            return
        passed.append(route.request)
        route.continue_()

    page.route("**/blocks/**", hold)


def note_blocks(page: Page) -> list[str]:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "PUT" else None)
    return sent


def wait_for_blocks(site: Site, page: Page, count: int) -> int:
    for _ in range(200):
        page.wait_for_timeout(50)
        found = videos(site)
        here = uploads.staged(site.services, site.services.catalog.get(found[0])) if found else ()
        if len(here) >= count:
            return len(here)
    raise AssertionError(f"no {count} blocks after ten seconds")
