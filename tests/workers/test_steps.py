"""Which tickets a video needs now."""

from collections.abc import Sequence

import msgspec
import pytest

from shared.services import Services
from shared.tickets import Ticket
from shared.videos import Part, PartPlan, Plan, Playback, Video
from tests.workers.faulty import Faulty
from tests.workers.making import a_plan, a_video, processing
from workers.steps import next_tickets, past, rest_if_done


def owed(
    services: Services, video: Video, plan: Plan | None = None, *finished: str, after: str | None = None
) -> list[str]:
    parts = {name: Part(name=name, attempt="aaaa0000") for name in finished}
    return said(next_tickets(video, plan, parts, made=services.clock.now(), after=after))


def said(tickets: Sequence[Ticket]) -> list[str]:
    return [" ".join(filter(None, (ticket.kind, getattr(ticket, "part", "")))) for ticket in tickets]


def test_an_upload_needs_nothing_from_workers(services: Services) -> None:
    assert owed(services, a_video(services, state="uploading")) == []


def test_a_queued_video_needs_its_ingest(services: Services) -> None:
    assert owed(services, a_video(services)) == ["ingest"]


def test_a_plan_recorded_before_its_worker_died_still_needs_the_ingest_that_announces_it(services: Services) -> None:
    assert owed(services, a_video(services), a_plan()) == ["ingest"]


def test_a_video_with_a_plan_needs_the_parts_that_need_nothing_the_fast_ones_first(services: Services) -> None:
    video = a_video(services, state="processing")
    assert owed(services, video, a_plan()) == ["encode first", "encode ladder", "pictures pictures"]


def test_once_the_first_parts_are_there_it_can_be_assembled(services: Services) -> None:
    video = a_video(services, state="processing")
    assert owed(services, video, a_plan(), "first") == ["encode ladder", "pictures pictures", "assemble"]


def test_a_part_just_finished_sends_only_what_it_allows(services: Services) -> None:
    video = a_video(services, state="processing")
    assert owed(services, video, a_plan(), "ladder", after="ladder") == []
    assert owed(services, video, a_plan(), "first", "ladder", after="ladder") == ["package mp4", "assemble"]
    assert owed(services, video, a_plan(), "first", "ladder", "pictures", after="pictures") == ["assemble"]


def test_what_is_assembled_already_is_not_assembled_again(services: Services) -> None:
    playback = Playback(master="m", generation=1, parts=("first",))
    video = a_video(services, state="playable", playback=playback, indexed=1)
    assert owed(services, video, a_plan(), "first") == ["encode ladder", "pictures pictures"]
    assert "assemble" in owed(services, video, a_plan(), "first", "ladder")


def test_what_an_older_generation_published_does_not_count(services: Services) -> None:
    playback = Playback(master="m", generation=1, parts=("first",))
    video = a_video(services, state="processing", generation=2, playback=playback)
    assert "assemble" in owed(services, video, a_plan(), "first")


def test_a_part_that_is_not_vital_and_failed_does_not_hold_up_the_rest(services: Services) -> None:
    video = a_video(services, state="processing")
    parts = {name: Part(name=name, attempt="aaaa0000") for name in ("first", "ladder", "mp4")}
    parts["pictures"] = Part(name="pictures", attempt="-", failed="no picture")
    assert said(next_tickets(video, a_plan(), parts, made=services.clock.now())) == ["assemble"]


def test_a_vital_part_that_failed_needs_no_more_parts_but_the_verdict(services: Services) -> None:
    video = a_video(services, state="processing")
    parts = {"ladder": Part(name="ladder", attempt="-", failed="damaged")}
    assert said(next_tickets(video, a_plan(), parts, made=services.clock.now())) == ["assemble"]


@pytest.mark.parametrize("state", ["published", "failed"])
def test_a_finished_video_needs_indexing_until_the_index_knows_it(services: Services, state: str) -> None:
    video = a_video(services, state=state, revision=3, indexed=2)
    assert owed(services, video, a_plan(), "first") == ["index"]
    assert owed(services, msgspec.structs.replace(video, indexed=3), a_plan(), "first") == []


def test_a_deleted_video_needs_erasing_and_to_leave_the_index(services: Services) -> None:
    assert owed(services, a_video(services, state="deleted", revision=2)) == ["erase", "index"]


def test_a_part_of_an_unknown_need_is_never_owed(services: Services) -> None:
    plan = a_plan(PartPlan(name="first", kind="encode"), PartPlan(name="mp4", kind="package", needs=("first",)))
    assert owed(services, a_video(services, state="processing"), plan) == ["encode first"]


def test_work_is_past_when_the_state_is_final_or_the_generation_another(services: Services) -> None:
    assert past(a_video(services, state="published"), 1)
    assert past(a_video(services, state="processing", generation=2), 1)
    assert not past(a_video(services, state="playable"), 1)


def test_a_video_the_index_knows_leaves_the_active_list(services: Services) -> None:
    video = processing(services, state="published", indexed=1)
    assert rest_if_done(services, video.id)
    assert video.id not in services.catalog.active()


@pytest.mark.parametrize("fields", [{"state": "published", "indexed": 0}, {"state": "playable", "indexed": 1}])
def test_a_video_something_is_owed_to_stays_active(services: Services, fields: dict[str, object]) -> None:
    video = processing(services, **fields)  # type: ignore[arg-type]
    assert not rest_if_done(services, video.id)
    assert video.id in services.catalog.active()


def test_an_edit_in_the_same_moment_keeps_the_video_active(services: Services, faulty: dict[str, Faulty]) -> None:
    video = processing(services, state="published", indexed=1)

    def edit() -> None:
        services.catalog.mark_active(video.id)
        services.catalog.change(video.id, lambda now: msgspec.structs.replace(now, title="B", revision=2))

    faulty["tables"].before("delete", edit)
    assert not rest_if_done(services, video.id)
    assert video.id in services.catalog.active()
