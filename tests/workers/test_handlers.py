"""Each handler before, at and past its step."""

from collections.abc import Callable

import msgspec
import pytest

from shared.errors import Conflict, Permanent, Stopped
from shared.notes import owner_notes
from shared.services import Services
from shared.tickets import KINDS, Assemble, Erase, Package, Ticket
from shared.videos import MEDIA, SOURCES, Part, Playback, Video
from tests.workers.faulty import Faulty
from tests.workers.making import (
    a_plan,
    a_rendition,
    a_video,
    an_encode,
    an_ingest,
    finish_part,
    media_names,
    processing,
    put_file,
    sent,
    tell_all,
)
from workers.attempt import Attempt
from workers.failures import give_up
from workers.handlers import assemble, encode, erase, ingest, package
from workers.handlers.table import find_handlers
from workers.parts import record

MakeAttempt = Callable[[Ticket], Attempt]


def an_assemble(services: Services, video: Video) -> Assemble:
    return Assemble(video=video.id, generation=video.generation, made=services.clock.now())


def an_erase(services: Services, video: Video) -> Erase:
    return Erase(video=video.id, generation=video.generation, made=services.clock.now())


def do_assemble(services: Services, video: Video, attempt: MakeAttempt) -> Video:
    ticket = an_assemble(services, video)
    assemble.handle(ticket, services, attempt(ticket))
    return services.catalog.get(video.id)


def test_every_kind_has_a_handler_named_after_it() -> None:
    assert set(find_handlers()) == {str(kind.__struct_config__.tag) for kind in KINDS}


# ingest


def test_ingest_at_its_result_only_moves_on(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, state="queued")
    ticket = an_ingest(services, video)
    ingest.handle(ticket, services, attempt(ticket))
    now = services.catalog.get(video.id)
    assert (now.state, now.duration, now.width, now.height) == ("processing", 2.0, 320, 180)
    assert sent(services, "ingest") == ["encode first"]
    assert sent(services, "transcode-normal") == ["encode ladder", "pictures pictures"]


@pytest.mark.parametrize("state", ["uploading", "published", "failed", "deleted"])
def test_ingest_does_nothing_to_a_video_that_is_elsewhere(
    services: Services, attempt: MakeAttempt, state: str
) -> None:
    video = a_video(services, state=state)
    ticket = an_ingest(services, video)
    ingest.handle(ticket, services, attempt(ticket))
    assert services.catalog.get(video.id) == video
    assert sent(services, "ingest") == []


def test_ingest_of_a_video_nobody_entered_is_done(services: Services, attempt: MakeAttempt) -> None:
    ticket = an_ingest(services)
    ingest.handle(ticket, services, attempt(ticket))
    assert sent(services, "ingest") == []


def test_ingest_of_what_is_no_video_fails_with_a_sentence(services: Services, attempt: MakeAttempt) -> None:
    video = a_video(services, source=b"<html><body>502 Bad Gateway</body></html>")
    ticket = an_ingest(services, video)
    with pytest.raises(Permanent, match="web page"):
        ingest.handle(ticket, services, attempt(ticket))


# parts


def test_encode_at_its_result_only_sends_what_the_part_allows(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, "first")
    ticket = an_encode(services, video)
    encode.handle(ticket, services, attempt(ticket))
    assert services.catalog.parts(video.id, 1)["first"].attempt == "aaaa0000"
    assert sent(services, "ingest") == ["assemble"]
    assert sent(services, "transcode-normal") == []


@pytest.mark.parametrize(
    "fields", [{"state": "published"}, {"state": "deleted"}, {"state": "failed"}, {"generation": 2}]
)
def test_encode_past_its_step_does_nothing(
    services: Services, attempt: MakeAttempt, fields: dict[str, object]
) -> None:
    video = processing(services, **fields)  # type: ignore[arg-type]
    ticket = an_encode(services, video, generation=1)
    encode.handle(ticket, services, attempt(ticket))
    assert services.catalog.parts(video.id, video.generation) == {}
    assert all(sent(services, queue) == [] for queue in ("ingest", "transcode-normal"))


def test_of_two_attempts_at_a_part_the_first_recorded_wins_and_the_other_takes_its_files_away(
    services: Services, attempt: MakeAttempt
) -> None:
    video = processing(services)
    ticket = an_encode(services, video)
    winner, loser = attempt(ticket), attempt(ticket)
    for trying in (winner, loser):
        (trying.folder / "180p.m4s").write_bytes(trying.id.encode())
        record(services, ticket, trying, trying.folder, {"by": trying.id})
    assert services.catalog.parts(video.id, 1)["first"].result == {"by": winner.id}
    assert media_names(services) == [f"{video.id}/g1/first/{winner.id}/180p.m4s"]


def test_an_attempt_whose_recording_lost_its_reply_is_still_the_winner(
    services: Services, attempt: MakeAttempt, faulty: dict[str, Faulty]
) -> None:
    video = processing(services)
    ticket = an_encode(services, video)
    trying = attempt(ticket)
    (trying.folder / "180p.m4s").write_bytes(b"media")
    faulty["tables"].lose_reply("insert", Conflict("the backend tried again"))
    record(services, ticket, trying, trying.folder, {})
    assert services.catalog.parts(video.id, 1)["first"].attempt == trying.id
    assert len(media_names(services)) == 1


def test_an_attempt_told_to_stop_records_nothing(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services)
    ticket = an_encode(services, video)
    trying = attempt(ticket)
    (trying.folder / "180p.m4s").write_bytes(b"media")
    trying.stop("its lease was lost")
    with pytest.raises(Stopped):
        record(services, ticket, trying, trying.folder, {})
    assert services.catalog.parts(video.id, 1) == {}
    assert media_names(services) == []


def test_a_package_whose_part_was_given_up_cannot_be_made(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, "ladder")
    services.catalog.record_part(video.id, 1, Part(name="first", attempt="-", failed="damaged"))
    ticket = Package(video=video.id, generation=1, made=services.clock.now(), part="mp4")
    with pytest.raises(Permanent, match="damaged"):
        package.handle(ticket, services, attempt(ticket))


# assemble


def test_the_first_parts_make_a_video_playable_and_known_to_the_index(
    services: Services, attempt: MakeAttempt
) -> None:
    video = processing(services, "first")
    now = do_assemble(services, video, attempt)
    assert now.state == "playable"
    assert now.revision == video.revision + 1
    assert now.published == services.clock.now()
    assert now.playback.master in media_names(services)
    assert "180p.m3u8" in services.blobs.get(MEDIA, now.playback.master).decode()
    assert sent(services, "index") == ["index"]


def test_all_parts_make_it_published_with_everything_named(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, "first", "ladder", "pictures", "mp4")
    now = do_assemble(services, video, attempt)
    prefix = f"{video.id}/g1"
    assert now.state == "published"
    assert now.playback.mp4 == f"{prefix}/mp4/aaaa0000/video.mp4"
    assert now.playback.poster == f"{prefix}/pictures/aaaa0000/poster.jpg"
    assert now.playback.storyboard == f"{prefix}/pictures/aaaa0000/storyboard.vtt"


def test_a_video_is_published_without_a_part_that_is_not_vital(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, "first", "ladder", "mp4")
    services.catalog.record_part(video.id, 1, Part(name="pictures", attempt="-", failed="no picture"))
    now = do_assemble(services, video, attempt)
    assert now.state == "published"
    assert now.playback.poster is None


def test_a_video_is_as_long_as_its_longest_rendition_whatever_the_header_promised(
    services: Services, attempt: MakeAttempt
) -> None:
    video = processing(services, duration=3600.0)
    for name, seconds in (("first", 61.4), ("ladder", 61.44)):
        result = {"renditions": [{**a_rendition(), "duration": seconds}]}
        services.catalog.record_part(video.id, 1, Part(name=name, attempt="aaaa0000", result=result))
    assert do_assemble(services, video, attempt).duration == 61.44


def test_a_vital_part_given_up_fails_the_video_with_its_reason(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, "first")
    services.catalog.record_part(video.id, 1, Part(name="ladder", attempt="-", failed="the file is damaged"))
    now = do_assemble(services, video, attempt)
    assert (now.state, now.reason) == ("failed", "the file is damaged")
    assert sent(services, "index") == ["index"]


def test_nothing_is_published_before_the_first_parts_are_there(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, "ladder")
    assert do_assemble(services, video, attempt) == video
    assert sent(services, "index") == []


def test_assembling_again_changes_nothing(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, "first")
    once = do_assemble(services, video, attempt)
    again = do_assemble(services, video, attempt)
    assert again == once
    assert len([name for name in media_names(services) if "/assemble/" in name]) == 1


def test_a_late_assemble_with_fewer_parts_takes_nothing_back(
    services: Services, attempt: MakeAttempt, faulty: dict[str, Faulty]
) -> None:
    video = processing(services, "first")

    def another_worker() -> None:
        for name in ("ladder", "pictures", "mp4"):
            finish_part(services, video, name)
        do_assemble(services, video, attempt)

    faulty["blobs"].before("put", another_worker)
    now = do_assemble(services, video, attempt)
    assert now.state == "published"
    assert set(now.playback.parts) == {"first", "ladder", "pictures", "mp4"}
    assert [name for name in media_names(services) if "/assemble/" in name] == [now.playback.master]


def test_an_assemble_that_died_before_its_last_ticket_sends_it_when_done_again(
    services: Services, attempt: MakeAttempt
) -> None:
    video = processing(services, "first", "ladder", "pictures", "mp4")
    do_assemble(services, video, attempt)
    services.queues.clear("index")
    do_assemble(services, video, attempt)
    assert sent(services, "index") == ["index"]


def test_what_the_index_knows_is_not_sent_to_it_again(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, state="published", revision=2, indexed=2)
    do_assemble(services, video, attempt)
    assert sent(services, "index") == []


@pytest.mark.parametrize("fields", [{"state": "deleted"}, {"generation": 2}])
def test_assemble_past_its_step_publishes_nothing(
    services: Services, attempt: MakeAttempt, fields: dict[str, object]
) -> None:
    video = processing(services, "first", **fields)  # type: ignore[arg-type]
    ticket = msgspec.structs.replace(an_assemble(services, video), generation=1)
    assemble.handle(ticket, services, attempt(ticket))
    assert services.catalog.get(video.id).playback == Playback()


def test_a_video_deleted_while_it_is_assembled_stays_deleted(
    services: Services, attempt: MakeAttempt, faulty: dict[str, Faulty]
) -> None:
    video = processing(services, "first")

    def delete() -> None:
        services.catalog.change(video.id, lambda now: msgspec.structs.replace(now, state="deleted"))

    faulty["blobs"].before("put", delete)
    now = do_assemble(services, video, attempt)
    assert now.state == "deleted"
    assert [name for name in media_names(services) if "/assemble/" in name] == []


# erase


def test_erasing_removes_media_source_and_staged_blocks_of_this_video_only(
    services: Services, attempt: MakeAttempt
) -> None:
    video = processing(services, "first", source=b"source", state="deleted", indexed=1)
    other = processing(services, "first", source=b"source")
    services.blobs.stage_block(SOURCES, f"{video.id}/g2", "AAAA", b"block")
    tell_all(services, video)
    ticket = an_erase(services, video)
    for _ in range(2):
        erase.handle(ticket, services, attempt(ticket))
    assert {name.split("/")[0] for name in media_names(services)} == {other.id}
    assert [blob.name for blob in services.blobs.list_blobs(SOURCES).blobs] == [other.source]
    assert list(services.blobs.list_uncommitted(SOURCES)) == []
    assert services.catalog.get(video.id).state == "deleted"
    assert video.id not in services.catalog.active()


def test_erasing_before_the_index_forgot_keeps_the_video_active(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, state="deleted", revision=2, indexed=1)
    ticket = an_erase(services, video)
    erase.handle(ticket, services, attempt(ticket))
    assert video.id in services.catalog.active()


def test_a_video_that_is_not_deleted_is_never_erased(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, "first", source=b"source")
    ticket = an_erase(services, video)
    erase.handle(ticket, services, attempt(ticket))
    assert len(media_names(services)) == 1


# giving up


def test_giving_up_a_part_that_another_attempt_finished_changes_nothing(services: Services) -> None:
    video = processing(services, "first")
    give_up(services, an_encode(services, video), "it never worked")
    assert services.catalog.get(video.id).state == "processing"
    assert services.catalog.parts(video.id, 1)["first"].failed is None


def test_giving_up_the_last_part_that_is_not_vital_lets_the_video_be_published(services: Services) -> None:
    video = processing(services, "first", "ladder", "mp4")
    give_up(services, an_encode(services, video, "pictures"), "it never worked")
    assert sent(services, "ingest") == ["assemble"]


def test_the_owner_of_a_video_published_without_a_part_is_told_why(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, "first", "ladder", "mp4")
    give_up(services, an_encode(services, video, "pictures"), "no picture of it could be decoded")
    now = do_assemble(services, video, attempt)
    assert now.state == "published"
    said = owner_notes(now, services.catalog.plan(video.id, 1), services.catalog.parts(video.id, 1))
    assert said == ("its poster could not be made: no picture of it could be decoded",)


@pytest.mark.parametrize("kind", [Erase])
def test_giving_up_other_work_leaves_a_line_in_the_timeline(services: Services, kind: type[Erase]) -> None:
    video = processing(services, state="published")
    give_up(services, kind(video=video.id, generation=1, made=services.clock.now()), "it never worked")
    assert services.catalog.get(video.id).state == "published"
    assert ("erase given up", "it never worked") in [(e.what, e.detail) for e in services.catalog.events(video.id)]


def test_a_video_that_failed_is_not_failed_again_with_another_reason(services: Services) -> None:
    video = a_video(services, state="failed", reason="the first reason", indexed=1)
    give_up(services, an_ingest(services, video), "the second reason")
    assert services.catalog.get(video.id).reason == "the first reason"


def test_the_first_plan_of_a_generation_holds(services: Services) -> None:
    video = a_video(services)
    first = services.catalog.record_plan(video.id, 1, a_plan())
    assert services.catalog.record_plan(video.id, 1, msgspec.structs.replace(a_plan(), recipe=9)) == first


def test_a_file_of_another_part_is_not_touched_by_a_loser(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, "first")
    other = put_file(services, video, "ladder", "bbbb0000")
    ticket = an_encode(services, video)
    trying = attempt(ticket)
    (trying.folder / "180p.m4s").write_bytes(b"media")
    record(services, ticket, trying, trying.folder, {})
    assert other in media_names(services)
