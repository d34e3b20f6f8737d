"""The catalog: changed by compare-and-swap, first recorded wins, one partition a question."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from shared.errors import Conflict, Invalid, NotFound
from shared.tables import Tables
from shared.videos import (
    Catalog,
    Part,
    PartPlan,
    Plan,
    Progress,
    Video,
    check_privacy,
    clean_title,
    first_ready,
    fraction_done,
    is_video_id,
    missing_parts,
    new_video_id,
    whole,
)
from tests.workers.clock import HandClock

AT = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture
def catalog(tables: Tables, clock: HandClock) -> Catalog:
    catalog = Catalog(tables, clock)
    catalog.ensure()
    return catalog


def a_video(**fields: Any) -> Video:
    return Video(**{"id": new_video_id(), "owner": "ada", "channel": "Ada", "title": "A film", "created": AT} | fields)


def a_plan(*parts: PartPlan, first: tuple[str, ...] = ()) -> Plan:
    return Plan(recipe=1, duration=60.0, width=1920, height=1080, parts=parts, first=first)


def titled(title: str) -> Any:
    return lambda video: msgspec.structs.replace(video, title=title)


def test_a_video_added_is_found(catalog: Catalog) -> None:
    added = catalog.add(a_video(tags=("sea", "night")), event="created")
    assert catalog.get(added.id) == added
    assert added.etag


def test_an_id_is_taken_once(catalog: Catalog) -> None:
    video = catalog.add(a_video(), event="created")
    with pytest.raises(Conflict):
        catalog.add(a_video(id=video.id), event="created")


def test_entering_a_video_again_leaves_it_where_it_is_in_the_lists(catalog: Catalog) -> None:
    video = catalog.add(a_video(), event="created")
    catalog.mark_idle(video.id)
    with pytest.raises(Conflict):
        catalog.add(a_video(id=video.id, created=AT + timedelta(hours=1)), event="created")
    assert list(catalog.active()) == []
    assert [found.id for found in catalog.channel("ada")[0]] == [video.id]


@pytest.mark.parametrize("video_id", ["", "short", "../../../etc", "00000000000", "4Rk9mZQ2xLp"])
def test_a_video_that_is_not_there_is_not_found(catalog: Catalog, video_id: str) -> None:
    with pytest.raises(NotFound):
        catalog.get(video_id)


def test_a_change_is_written_and_its_event_with_it(catalog: Catalog, clock: HandClock) -> None:
    video = catalog.add(a_video(), event="created")
    clock.forward(1)
    changed = catalog.change(video.id, titled("Another"), event="edited")
    assert catalog.get(video.id) == changed
    assert changed.title == "Another"
    assert [event.what for event in catalog.events(video.id)] == ["created", "edited"]


def test_a_change_that_changes_nothing_writes_nothing(catalog: Catalog) -> None:
    video = catalog.add(a_video(), event="created")
    for how in (lambda _: None, lambda video: video, titled(video.title)):
        assert catalog.change(video.id, how, event="edited") == video
    assert [event.what for event in catalog.events(video.id)] == ["created"]


def test_of_many_changes_at_once_none_is_lost(catalog: Catalog) -> None:
    video = catalog.add(a_video(revision=0), event="created")

    def one_more(_: int) -> None:
        catalog.change(video.id, lambda video: msgspec.structs.replace(video, revision=video.revision + 1))

    with ThreadPoolExecutor(4) as many:
        list(many.map(one_more, range(20)))
    assert catalog.get(video.id).revision == 20


def test_a_channel_lists_its_videos_newest_first_without_the_deleted(catalog: Catalog) -> None:
    old, new, gone = (
        catalog.add(a_video(created=AT + timedelta(hours=hour), title=title), event="created")
        for hour, title in enumerate(("old", "new", "gone"))
    )
    catalog.add(a_video(owner="bob"), event="created")
    catalog.change(gone.id, lambda video: msgspec.structs.replace(video, state="deleted"))
    videos, marker = catalog.channel("ada")
    assert [video.id for video in videos] == [new.id, old.id]
    assert marker is None


def test_a_channel_is_read_page_by_page(catalog: Catalog) -> None:
    ids = [catalog.add(a_video(created=AT + timedelta(hours=hour)), event="created").id for hour in range(5)]
    found, marker = [], None
    for _ in range(3):
        videos, marker = catalog.channel("ada", limit=2, marker=marker)
        found += [video.id for video in videos]
    assert found == ids[::-1]
    assert marker is None


def test_all_gives_every_video_the_deleted_too(catalog: Catalog) -> None:
    ids = {catalog.add(a_video(state=state), event="created").id for state in ("queued", "deleted", "published")}
    assert {video.id for video in catalog.all()} == ids


def test_a_new_video_is_active_until_it_is_marked_idle(catalog: Catalog) -> None:
    video = catalog.add(a_video(), event="created")
    assert list(catalog.active()) == [video.id]
    for _ in range(2):
        catalog.mark_idle(video.id)
    assert list(catalog.active()) == []
    catalog.mark_active(video.id)
    assert list(catalog.active()) == [video.id]


def test_the_first_plan_of_a_generation_holds(catalog: Catalog) -> None:
    first, second = a_plan(PartPlan(name="a", kind="encode")), a_plan(PartPlan(name="b", kind="encode"))
    video = catalog.add(a_video(), event="created")
    assert catalog.record_plan(video.id, 1, first) == first
    assert catalog.record_plan(video.id, 1, second) == first
    assert catalog.record_plan(video.id, 2, second) == second
    assert (catalog.plan(video.id, 1), catalog.plan(video.id, 2)) == (first, second)


def test_the_first_to_record_a_part_wins(catalog: Catalog) -> None:
    video = catalog.add(a_video(), event="created")
    winner, loser = Part(name="ladder", attempt="aa"), Part(name="ladder", attempt="bb")
    assert catalog.record_part(video.id, 1, winner) == winner
    assert catalog.record_part(video.id, 1, loser) == winner
    assert catalog.parts(video.id, 1) == {"ladder": winner}


def test_parts_of_one_generation_are_not_anothers(catalog: Catalog) -> None:
    video = catalog.add(a_video(), event="created")
    for generation in (1, 2, 11):
        catalog.record_part(video.id, generation, Part(name="ladder", attempt=str(generation)))
    assert [catalog.parts(video.id, generation)["ladder"].attempt for generation in (1, 2, 11)] == ["1", "2", "11"]


def test_parts_given_up_can_be_forgotten_and_made_again(catalog: Catalog) -> None:
    video = catalog.add(a_video(), event="created")
    made = catalog.record_part(video.id, 1, Part(name="first", attempt="aa"))
    catalog.record_part(video.id, 1, Part(name="ladder", attempt="aa", failed="it broke"))
    catalog.forget_given_up(video.id, 1)
    assert catalog.parts(video.id, 1) == {"first": made}
    assert catalog.record_part(video.id, 1, Part(name="ladder", attempt="bb")).attempt == "bb"


def test_progress_is_the_latest_report_of_each_part(catalog: Catalog) -> None:
    video = catalog.add(a_video(), event="created")
    for fraction in (0.1, 0.6):
        catalog.report_progress(video.id, 1, Progress(part="ladder", attempt="aa", fraction=fraction, at=AT))
    assert {name: report.fraction for name, report in catalog.progress(video.id, 1).items()} == {"ladder": 0.6}


def test_the_timeline_is_oldest_first(catalog: Catalog, clock: HandClock) -> None:
    video = catalog.add(a_video(), event="created")
    for what in ("queued", "processing", "failed"):
        clock.forward(1)
        catalog.add_event(video.id, what, f"detail of {what}")
    events = catalog.events(video.id)
    assert [event.what for event in events] == ["created", "queued", "processing", "failed"]
    assert events[-1].detail == "detail of failed"


def test_anything_recorded_about_a_video_moves_it(catalog: Catalog, clock: HandClock) -> None:
    video = catalog.add(a_video(), event="created")
    for act in (
        lambda: catalog.record_plan(video.id, 1, a_plan()),
        lambda: catalog.record_part(video.id, 1, Part(name="a", attempt="aa")),
        lambda: catalog.report_progress(video.id, 1, Progress(part="b", attempt="aa", fraction=0.5, at=AT)),
        lambda: catalog.add_event(video.id, "looked at"),
        lambda: catalog.change(video.id, titled("Another")),
    ):
        clock.forward(10)
        act()
        assert catalog.last_moved(video.id) == clock.now()
    with pytest.raises(NotFound):
        catalog.last_moved(new_video_id())


def test_a_part_waits_for_what_it_needs() -> None:
    plan = a_plan(
        PartPlan(name="first", kind="encode"),
        PartPlan(name="ladder", kind="encode"),
        PartPlan(name="mp4", kind="package", needs=("first", "ladder")),
        first=("first",),
    )
    done: dict[str, Part] = {}
    assert [part.name for part in missing_parts(plan, done)] == ["first", "ladder"]
    assert not first_ready(plan, done)
    done["first"] = Part(name="first", attempt="aa")
    assert [part.name for part in missing_parts(plan, done)] == ["ladder"]
    assert first_ready(plan, done)
    done["ladder"] = Part(name="ladder", attempt="aa")
    assert [part.name for part in missing_parts(plan, done)] == ["mp4"]
    done["mp4"] = Part(name="mp4", attempt="aa", failed="no room")
    assert whole(plan, done)
    assert plan.part("mp4").kind == "package"
    with pytest.raises(NotFound):
        plan.part("nothing")


def test_the_share_done_is_weighted() -> None:
    plan = a_plan(PartPlan(name="a", kind="encode", weight=3.0), PartPlan(name="b", kind="encode", weight=1.0))
    assert fraction_done(plan, {}, {}) == 0.0
    half = {"a": Progress(part="a", attempt="aa", fraction=0.5, at=AT)}
    assert fraction_done(plan, {"b": Part(name="b", attempt="aa")}, half) == pytest.approx(0.625)
    assert fraction_done(plan, {name: Part(name=name, attempt="aa") for name in "ab"}, half) == 1.0


def test_new_ids_are_ids_and_differ() -> None:
    ids = {new_video_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(is_video_id(video_id) for video_id in ids)


@pytest.mark.parametrize(
    ("text", "title"),
    [("  A\tfilm\r\nof two  ", "A film of two"), ("\x00\x07", "Untitled"), ("", "Untitled"), ("x" * 300, "x" * 200)],
)
def test_a_title_is_one_clean_line(text: str, title: str) -> None:
    assert clean_title(text) == title


def test_privacy_is_one_of_three_words() -> None:
    assert [check_privacy(word) for word in ("public", "unlisted", "private")] == ["public", "unlisted", "private"]
    with pytest.raises(Invalid):
        check_privacy("secret")
