"""What the sweep finds, mends, and leaves alone."""

import threading
from collections.abc import Callable
from datetime import timedelta

import msgspec
import pytest

from shared.errors import Busy, Stopped
from shared.people import Person
from shared.services import Services
from shared.settings import Settings
from shared.tickets import Ticket
from shared.uploads import Request, open_upload
from shared.videos import MEDIA, SOURCES, Part, Playback, Progress
from tests.workers.clock import HandClock
from tests.workers.faulty import Faulty
from tests.workers.making import a_video, an_encode, finish_part, media_names, processing, put_file, sent, waiting
from workers.attempt import Attempt
from workers.sweep import claim_slot, prepare, sweep

MakeAttempt = Callable[[Ticket], Attempt]
STALLED = 120.0
GARBAGE = 3600.0


def whats(services: Services, *, dry_run: bool = False) -> list[str]:
    return [finding.what for finding in sweep(services, dry_run=dry_run)]


# stalled


def test_a_video_whose_ticket_was_lost_gets_it_again(services: Services, clock: HandClock) -> None:
    a_video(services)
    clock.forward(STALLED - 1)
    assert whats(services) == []
    clock.forward(1)
    assert whats(services) == ["send the next step again"]
    assert sent(services, "ingest") == ["ingest"]


def test_progress_is_a_sign_of_life(services: Services, clock: HandClock) -> None:
    video = processing(services)
    for _ in range(5):
        clock.forward(STALLED - 1)
        services.catalog.report_progress(
            video.id, 1, Progress(part="first", attempt="aaaa0000", fraction=0.1, at=clock.now())
        )
        assert whats(services) == []


def test_a_stall_that_goes_on_is_answered_less_and_less_often(services: Services, clock: HandClock) -> None:
    a_video(services)
    clock.forward(STALLED)
    answers = 0
    for _ in range(60):
        answers += len(whats(services))
        clock.forward(60)
    assert answers == 4


def test_a_video_that_moved_meanwhile_is_answered_promptly_again(services: Services, clock: HandClock) -> None:
    video = a_video(services)
    for _ in range(10):
        clock.forward(STALLED)
        sweep(services)
    services.catalog.add_event(video.id, "something happened")
    services.queues.clear("ingest")
    clock.forward(STALLED)
    sweep(services)
    assert sent(services, "ingest") == ["ingest"]


def test_every_step_that_may_be_lost_is_sent_again(services: Services, clock: HandClock) -> None:
    processing(services, "first")
    processing(services, state="published")
    a_video(services, state="deleted")
    clock.forward(STALLED)
    sweep(services)
    assert sent(services, "ingest") == ["assemble"]
    assert sent(services, "transcode-normal") == ["encode ladder", "pictures pictures"]
    assert sent(services, "index") == ["index", "index"]
    assert sent(services, "housekeeping") == ["erase"]


def test_a_finished_video_that_stayed_on_the_active_list_leaves_it(services: Services) -> None:
    video = processing(services, state="published", indexed=1)
    assert whats(services) == ["nothing is owed"]
    assert video.id not in services.catalog.active()


def test_a_place_on_the_list_without_a_video_goes_when_it_is_old(services: Services, clock: HandClock) -> None:
    services.catalog.mark_active("11111111111")
    assert whats(services) == []
    clock.forward(60)
    assert whats(services) == ["forget what was never entered"]
    assert list(services.catalog.active()) == []


def test_two_sweeps_at_the_same_time_send_once(services: Services, clock: HandClock) -> None:
    for _ in range(10):
        a_video(services)
    clock.forward(STALLED)
    sweeps = [threading.Thread(target=sweep, args=(services,)) for _ in range(3)]
    for one in sweeps:
        one.start()
    for one in sweeps:
        one.join()
    assert waiting(services, "ingest") == 10


def test_a_dry_run_says_the_same_and_changes_nothing(services: Services, clock: HandClock) -> None:
    video = a_video(services)
    loser = put_file(services, processing(services, "first"), "first", "bbbb0000")
    a_video(services, state="uploading", created=clock.now() - timedelta(days=8))
    clock.forward(GARBAGE)
    would = [(finding.what, finding.about) for finding in sweep(services, dry_run=True)]
    assert waiting(services, "ingest") == 0
    assert loser in media_names(services)
    assert services.catalog.get(video.id) == video
    assert [(finding.what, finding.about) for finding in sweep(services)] == would
    assert len(would) == 4


def test_one_thing_that_cannot_be_mended_does_not_keep_the_rest(
    services: Services, clock: HandClock, faulty: dict[str, Faulty]
) -> None:
    a_video(services)
    a_video(services)
    clock.forward(STALLED)
    faulty["queues"].refuse("send", Busy("busy"))
    sweep(services)
    assert waiting(services, "ingest") == 1


def test_a_sweep_told_to_stop_stops(services: Services, clock: HandClock, attempt: MakeAttempt) -> None:
    video = a_video(services)
    clock.forward(STALLED)
    trying = attempt(an_encode(services, video))
    trying.stop("draining")
    with pytest.raises(Stopped):
        sweep(services, check=trying.check)
    assert waiting(services, "ingest") == 0


# uploads


def test_a_commit_cut_short_after_its_blob_is_finished(services: Services, clock: HandClock) -> None:
    video = a_video(services, state="uploading")
    services.blobs.put(SOURCES, video.source, b"source", metadata={"blocks": "digest"})
    assert whats(services) == []
    clock.forward(STALLED)
    assert whats(services) == ["finish the commit"]
    now = services.catalog.get(video.id)
    assert (now.state, now.blocks) == ("queued", "digest")
    assert sent(services, "ingest") == ["ingest"]


def test_an_upload_is_given_up_only_when_it_has_rested_for_its_whole_life(
    services: Services, clock: HandClock, settings: Settings
) -> None:
    video = a_video(services, state="uploading")
    clock.forward(settings.upload_life - 100)
    services.blobs.stage_block(SOURCES, video.source, "AAAA", b"block")
    clock.forward(settings.upload_life - 100)
    assert whats(services) == []
    clock.forward(100)
    assert whats(services)[0] == "give up the upload"
    assert services.catalog.get(video.id).state == "deleted"
    assert list(services.blobs.list_uncommitted(SOURCES)) == []
    assert video.id not in services.catalog.active()


# garbage


def test_the_files_of_a_loser_go_when_they_are_old(services: Services, clock: HandClock) -> None:
    video = processing(services, "first")
    loser = put_file(services, video, "first", "bbbb0000")
    clock.forward(GARBAGE - 1)
    sweep(services)
    assert loser in media_names(services)
    clock.forward(1)
    sweep(services)
    assert media_names(services) == [f"{video.id}/g1/first/aaaa0000/file.m4s"]


def test_nothing_a_video_refers_to_ever_goes(services: Services, clock: HandClock) -> None:
    video = processing(services, "first", "ladder", "pictures", "mp4", source=b"source")
    master = put_file(services, video, "assemble", "cccc0000", "master.m3u8")
    services.catalog.change(
        video.id,
        lambda now: msgspec.structs.replace(now, state="published", playback=Playback(master=master, generation=1)),
    )
    before = media_names(services)
    for _ in range(5):
        clock.forward(GARBAGE)
        sweep(services)
    assert media_names(services) == before
    assert len(before) == 5
    assert services.blobs.get(SOURCES, video.source) == b"source"


def test_what_an_older_generation_plays_stays_while_the_new_one_is_made(services: Services, clock: HandClock) -> None:
    video = processing(services, "first")
    master = put_file(services, video, "assemble", "cccc0000", "master.m3u8")
    services.catalog.change(
        video.id,
        lambda now: msgspec.structs.replace(now, generation=2, playback=Playback(master=master, generation=1)),
    )
    before = media_names(services)
    clock.forward(GARBAGE)
    sweep(services)
    assert media_names(services) == before


def test_files_of_a_part_nobody_recorded_yet_stay_for_their_writer_may_be_frozen(
    services: Services, clock: HandClock
) -> None:
    frozen = put_file(services, processing(services), "first", "bbbb0000")
    clock.forward(GARBAGE * 100)
    sweep(services)
    assert frozen in media_names(services)


def test_files_of_parts_never_recorded_go_once_the_video_has_failed(services: Services, clock: HandClock) -> None:
    put_file(services, processing(services, state="failed"), "first", "bbbb0000")
    clock.forward(GARBAGE)
    sweep(services)
    assert media_names(services) == []


def test_a_master_playlist_that_was_replaced_goes(services: Services, clock: HandClock) -> None:
    video = processing(services, "first")
    put_file(services, video, "assemble", "bbbb0000", "master.m3u8")
    new = put_file(services, video, "assemble", "cccc0000", "master.m3u8")
    services.catalog.change(
        video.id, lambda now: msgspec.structs.replace(now, playback=Playback(master=new, generation=1))
    )
    clock.forward(GARBAGE)
    sweep(services)
    assert [name for name in media_names(services) if "/assemble/" in name] == [new]


def test_blobs_written_after_a_video_was_deleted_go(services: Services, clock: HandClock) -> None:
    video = a_video(services, source=b"source", state="deleted")
    put_file(services, video, "first", "bbbb0000")
    services.blobs.stage_block(SOURCES, f"{video.id}/g2", "AAAA", b"block")
    clock.forward(GARBAGE)
    sweep(services)
    assert media_names(services) == []
    assert services.blobs.list_blobs(SOURCES).blobs == ()
    assert list(services.blobs.list_uncommitted(SOURCES)) == []


def test_blobs_of_no_video_go(services: Services, clock: HandClock) -> None:
    services.blobs.put(SOURCES, "11111111111/g1", b"source")
    services.blobs.put(MEDIA, "11111111111/g1/first/aaaa0000/file.m4s", b"media")
    clock.forward(GARBAGE)
    sweep(services)
    assert services.blobs.list_blobs(SOURCES).blobs == ()
    assert media_names(services) == []


def test_a_file_that_became_referenced_since_it_was_found_stays(services: Services, clock: HandClock) -> None:
    video = processing(services, state="failed")
    name = put_file(services, video, "first", "bbbb0000")
    clock.forward(GARBAGE)
    findings = sweep(services, dry_run=True)
    services.catalog.record_part(video.id, 1, Part(name="first", attempt="bbbb0000"))
    for finding in findings:
        finding.mend()
    assert name in media_names(services)


def test_the_blobs_are_walked_once_a_garbage_period_however_often_a_sweep_runs(
    services: Services, clock: HandClock
) -> None:
    finish_part(services, processing(services), "first")
    for _ in range(30):
        sweep(services)
        clock.forward(60)
    assert services.meter.counts()["blob", "list_uncommitted", "test"] <= 2


# slots


def test_of_many_processes_one_starts_the_sweep_of_a_period(
    services: Services, clock: HandClock, settings: Settings
) -> None:
    prepare(services)
    for _ in range(3):
        for _ in range(5):
            claim_slot(services)
        clock.forward(settings.sweep_every)
    assert waiting(services, "housekeeping") == 3


def test_old_slots_are_forgotten(services: Services, clock: HandClock) -> None:
    prepare(services)
    claim_slot(services)
    clock.forward(2 * 86400)
    claim_slot(services)
    sweep(services)
    assert len(services.tables.query("sweeps", "slots").entities) == 1


def open_with(services: Services, key: str) -> str:
    owner = Person(id="anna", name="anna", session_key="", created=services.clock.now())
    return open_upload(services, owner, Request(filename="sea.mp4", size=10), key=key).id


def test_an_upload_key_is_forgotten_when_it_is_a_day_old(services: Services, clock: HandClock) -> None:
    old = open_with(services, "old")
    clock.forward(86400 - 1)
    young = open_with(services, "young")
    assert "forget the upload key" not in whats(services)
    clock.forward(GARBAGE)
    assert whats(services).count("forget the upload key") == 1
    assert open_with(services, "young") == young
    assert open_with(services, "old") != old


def test_an_upload_cut_short_before_its_record_is_entered_once(
    services: Services, faulty: dict[str, Faulty], clock: HandClock
) -> None:
    faulty["tables"].refuse("batch", Busy("busy"))
    with pytest.raises(Busy):
        open_with(services, "k1")
    clock.forward(30)
    video_id = open_with(services, "k1")
    assert [video.id for video in services.catalog.channel("anna")[0]] == [video_id]


def test_a_token_that_expired_is_forgotten_and_one_that_is_good_stays(services: Services, clock: HandClock) -> None:
    anna = services.people.create("anna", "hash")
    for label, life in (("short", timedelta(hours=2)), ("long", timedelta(days=30)), ("endless", None)):
        services.people.create_token(anna.id, label, life=life)
    clock.forward(timedelta(hours=2).total_seconds() - 1)
    assert "forget the expired token" not in whats(services, dry_run=True)
    clock.forward(1)
    assert [token.label for token in services.people.expired_tokens()] == ["short"]
    assert whats(services, dry_run=True).count("forget the expired token") == 1
    clock.forward(GARBAGE)
    assert whats(services).count("forget the expired token") == 1
    assert list(services.people.expired_tokens()) == []
    assert {token.label for token in services.people.tokens(anna.id)} == {"long", "endless"}
