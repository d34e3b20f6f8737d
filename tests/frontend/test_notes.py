"""What an owner should know of a video is on its pages, for nobody else, and as soon as it is known."""

from collections.abc import Callable

import msgspec
from playwright.sync_api import Locator, Page, expect

from shared.videos import Part
from tests.browser import Visit
from tests.frontend.site import Site

HDR = "its high dynamic range was converted to standard range"
SAID = "Its high dynamic range was converted to standard range."


def box(page: Page) -> Locator:
    return page.get_by_role("region", name="Good to know")


def test_the_owner_reads_them_in_the_studio_and_beside_the_video(site: Site, signed_in: Callable[..., Visit]) -> None:
    video = site.a_video(notes=(HDR, "the subtitles <b>inside</b> the file were left out"))
    visitor = signed_in()
    for path in (f"/studio/{video.id}", f"/watch/{video.id}"):
        lines = box(visitor.go(path)).get_by_role("listitem")
        expect(lines).to_have_text([SAID, "The subtitles <b>inside</b> the file were left out."])
    expect(box(visitor.page)).to_contain_text("Viewers do not see this.")
    row = visitor.go("/studio").locator(f"[data-video='{video.id}']")
    expect(row).to_contain_text(SAID)
    row.get_by_role("link", name="1 more").click()
    expect(box(visitor.page)).to_be_visible()


def test_nobody_else_does_on_the_page_where_it_plays(
    site: Site, signed_in: Callable[..., Visit], guest: Callable[..., Visit]
) -> None:
    video = site.a_video(notes=(HDR,))
    for visitor in (guest(), signed_in("berta")):
        page = visitor.go(f"/watch/{video.id}")
        expect(page.get_by_role("heading", name=video.title)).to_be_visible()
        expect(box(page)).to_have_count(0)
        assert SAID not in page.content()


def test_a_video_without_any_has_no_box(site: Site, signed_in: Callable[..., Visit]) -> None:
    video = site.a_video()
    visitor = signed_in()
    for path in (f"/studio/{video.id}", f"/watch/{video.id}"):
        expect(visitor.go(path).locator("[data-notes]")).to_be_hidden()


def test_what_becomes_known_while_the_page_is_open_appears_on_it(site: Site, signed_in: Callable[..., Visit]) -> None:
    video = site.a_video(state="playable")
    watching, editing = signed_in().go(f"/watch/{video.id}"), signed_in().go(f"/studio/{video.id}")
    expect(watching.locator("[data-notes]")).to_be_hidden()
    given_up = Part(name="ladder", attempt="-", failed="it was damaged")
    site.services.catalog.record_part(video.id, 1, given_up)
    for page in (watching, editing):
        expect(box(page).get_by_role("listitem")).to_have_text("It was damaged.")


def test_what_was_given_up_of_a_published_video_can_be_tried_again(site: Site, signed_in: Callable[..., Visit]) -> None:
    video = site.a_video(state="playable")
    site.services.catalog.record_part(video.id, 1, Part(name="ladder", attempt="-", failed="it was damaged"))
    site.services.catalog.change(video.id, lambda now: msgspec.structs.replace(now, state="published"))
    page = signed_in().go(f"/studio/{video.id}")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("[data-state-words]")).to_contain_text("better quality on its way")
    assert site.services.queues.depth("ingest").messages == 1
