"""The upload API as a program meets it."""

import base64
from collections.abc import Callable
from urllib.parse import quote

import pytest

from shared import uploads
from shared.errors import Busy, Conflict
from shared.services import Services
from shared.videos import SOURCES
from tests.web.conftest import Someone, Uploading


def test_blocks_sent_in_any_order_become_the_source_in_the_order_committed(uploading, services: Services):
    upload: Uploading = uploading(bytes(range(256)) * 40)
    upload.open()
    for block_id, piece in reversed(upload.blocks.items()):
        assert upload.put(block_id, piece).status_code == 201
    answer = upload.commit()
    assert answer.status_code == 202
    assert answer.json["state"] == "queued"
    video = services.catalog.get(upload.opened["video_id"])
    assert services.blobs.get(SOURCES, video.source) == upload.content
    assert services.queues.depth("ingest").messages == 1


def test_an_upload_says_which_blocks_are_here(uploading):
    upload: Uploading = uploading()
    upload.open()
    first, second, third = upload.blocks
    upload.put(first, upload.blocks[first])
    upload.put(third, upload.blocks[third])
    state = upload.someone.client.get(
        f"/api/v1/uploads/{upload.opened['video_id']}", headers=upload.someone.headers
    ).json
    assert {block["id"] for block in state["blocks"]} == {first, third}
    assert state["state"] == "uploading"
    assert second not in {block["id"] for block in state["blocks"]}


def test_a_corrupt_block_is_refused_and_the_good_one_sent_before_stays(uploading, services: Services):
    upload: Uploading = uploading()
    upload.open()
    upload.put_all()
    block_id = next(iter(upload.blocks))
    wrong = base64.b64encode(b"0" * 16).decode()
    answer = upload.put(block_id, b"corrupt!", md5=wrong)
    assert answer.status_code == 400
    assert "Content-MD5" in answer.json["error"]["message"]
    assert upload.commit().status_code == 202
    video = services.catalog.get(upload.opened["video_id"])
    assert services.blobs.get(SOURCES, video.source) == upload.content


def test_a_commit_with_a_lost_block_names_it_and_can_be_made_good(uploading):
    upload: Uploading = uploading()
    upload.open()
    first, *others = upload.blocks
    for block_id in others:
        upload.put(block_id, upload.blocks[block_id])
    answer = upload.commit()
    assert answer.status_code == 400
    assert first in answer.json["error"]["message"]
    upload.put(first, upload.blocks[first])
    assert upload.commit().status_code == 202


def test_committing_twice_gives_the_same_video_and_sends_its_work_at_most_twice(uploading, services: Services):
    upload: Uploading = uploading()
    upload.open()
    upload.put_all()
    ids = list(upload.blocks)
    assert upload.commit(ids).status_code == 202
    again = upload.commit(ids)
    assert again.status_code == 202
    assert again.json["id"] == upload.opened["video_id"]
    assert services.queues.depth("ingest").messages == 1


def test_of_two_different_block_lists_the_first_wins_and_the_other_is_told(uploading):
    upload: Uploading = uploading()
    upload.open()
    upload.put_all()
    ids = list(upload.blocks)
    assert upload.commit(ids).status_code == 202
    assert upload.commit(ids[::-1]).status_code == 409


def test_opening_twice_with_one_idempotency_key_gives_one_video(uploading, services: Services):
    upload: Uploading = uploading()
    first = upload.open(**{"Idempotency-Key": "k1"}).json
    second = upload.open(**{"Idempotency-Key": "k1"}).json
    third = upload.open(**{"Idempotency-Key": "k2"}).json
    assert first["video_id"] == second["video_id"] != third["video_id"]
    assert len(list(services.catalog.all())) == 2


def test_opening_once_more_what_is_finished_marks_nothing_active(uploading, services: Services):
    upload: Uploading = uploading()
    opened = upload.open(**{"Idempotency-Key": "k1"}).json
    services.catalog.mark_idle(opened["video_id"])
    assert upload.open(**{"Idempotency-Key": "k1"}).json["video_id"] == opened["video_id"]
    assert list(services.catalog.active()) == []


def test_blocks_that_do_not_add_up_to_the_announced_size_are_refused(uploading):
    upload: Uploading = uploading(size=99_999)
    upload.open()
    upload.put_all()
    answer = upload.commit()
    assert answer.status_code == 400
    assert "99,999" in answer.json["error"]["message"]


def test_an_empty_file_is_refused_before_anything_is_made(uploading, services: Services):
    answer = uploading(b"").open()
    assert answer.status_code == 400
    assert "empty" in answer.json["error"]["message"]
    assert list(services.catalog.all()) == []


def test_a_file_larger_than_allowed_is_refused_with_its_limit(uploading):
    answer = uploading(size=60 * 1024**3).open()
    assert answer.status_code == 413
    assert "too large" in answer.json["error"]["message"]


def test_a_block_larger_than_agreed_is_refused(uploading):
    upload: Uploading = uploading()
    upload.open()
    assert upload.put(next(iter(upload.blocks)), b"y" * 5000).status_code == 413


def test_a_full_disk_is_said_before_bytes_are_sent(someone: Callable[..., Someone], services: Services, monkeypatch):
    anna = someone()
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": -1})())
    answer = anna.client.post("/api/v1/uploads", json={"filename": "a.mp4", "size": 10}, headers=anna.headers)
    assert answer.status_code == 507
    assert "full" in answer.json["error"]["message"]
    assert answer.headers["Retry-After"]


def test_nobody_uploads_without_saying_who_they_are(nobody):
    answer = nobody.post("/api/v1/uploads", json={"filename": "a.mp4", "size": 10})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_viewer_may_not_upload(someone):
    viewer = someone("victor", role="viewer")
    answer = viewer.client.post("/api/v1/uploads", json={"filename": "a.mp4", "size": 10}, headers=viewer.headers)
    assert answer.status_code == 403


def test_another_persons_upload_cannot_be_touched(uploading, someone):
    upload: Uploading = uploading()
    upload.open()
    other = someone("boris")
    upload.someone = Someone(other.person, other.token, other.client, other.headers)
    assert upload.put(next(iter(upload.blocks)), b"evil").status_code == 403
    assert upload.commit().status_code == 403


def test_a_cancelled_upload_leaves_no_blocks_and_takes_none(uploading, services: Services):
    upload: Uploading = uploading()
    upload.open()
    upload.put_all()
    address = f"/api/v1/uploads/{upload.opened['video_id']}"
    assert upload.someone.client.delete(address, headers=upload.someone.headers).status_code == 204
    assert list(services.blobs.list_uncommitted(SOURCES)) == []
    assert upload.put(next(iter(upload.blocks)), b"more").status_code == 404


def test_unfinished_uploads_are_listed_so_that_they_can_go_on(uploading):
    upload: Uploading = uploading()
    upload.open()
    listed = upload.someone.client.get("/api/v1/uploads", headers=upload.someone.headers).json["uploads"]
    assert [entry["video_id"] for entry in listed] == [upload.opened["video_id"]]
    assert listed[0]["filename"] == "sea.mp4"


def test_a_wrong_field_is_named(someone):
    anna = someone()
    for body, field in (
        ({"filename": "a.mp4", "size": "ten"}, "size"),
        ({"filename": "a.mp4", "size": 10, "privacy": "secret"}, "privacy"),
        ({"filename": "a.mp4", "size": 10, "language": "not a language"}, "language"),
        ({"filename": "", "size": 10}, "filename"),
        ({"filename": "a.mp4", "size": 10, "tags": ["t"] * 10 + [str(n) for n in range(60)]}, "tags"),
    ):
        answer = anna.client.post("/api/v1/uploads", json=body, headers=anna.headers)
        assert answer.status_code == 400, body
        assert field in answer.json["error"]["message"].lower()


def test_tags_are_taken_as_a_list_or_as_text_with_commas(someone, services: Services):
    anna = someone()
    for tags in (["sea", "night"], "sea, night"):
        body = {"filename": "a.mp4", "size": 10, "tags": tags}
        opened = anna.client.post("/api/v1/uploads", json=body, headers=anna.headers).json
        assert services.catalog.get(opened["video_id"]).tags == ("sea", "night")


def test_a_video_is_named_after_its_file_when_nothing_else_is_said(someone, services: Services):
    anna = someone()
    body = {"filename": "née_résumé 【テスト】.MP4", "size": 10}
    opened = anna.client.post("/api/v1/uploads", json=body, headers=anna.headers).json
    assert services.catalog.get(opened["video_id"]).title == "née résumé 【テスト】"


@pytest.mark.parametrize("block_id", ["////", "/+/+", "//ab", "ab//", "++++"])
@pytest.mark.parametrize("encoded", [True, False])
def test_any_base64_is_a_block_id(uploading, services: Services, block_id: str, encoded: bool):
    upload: Uploading = uploading(b"x" * 10)
    upload.open()
    sent_as = quote(block_id, safe="") if encoded else block_id
    assert upload.put(sent_as, upload.content).status_code == 201
    assert [block.id for block in services.blobs.get_block_list(SOURCES, f"{upload.opened['video_id']}/g1").staged] == [
        block_id
    ]
    assert upload.commit([block_id]).status_code == 202


def test_a_key_used_for_another_file_is_refused(uploading):
    first: Uploading = uploading()
    first.open(**{"Idempotency-Key": "k1"})
    first.about["filename"] = "another.mp4"
    answer = first.open(**{"Idempotency-Key": "k1"})
    assert answer.status_code == 409
    assert "Idempotency-Key" in answer.json["error"]["message"]


def test_the_key_of_a_cancelled_upload_opens_nothing(uploading):
    upload: Uploading = uploading()
    upload.open(**{"Idempotency-Key": "k1"})
    address = f"/api/v1/uploads/{upload.opened['video_id']}"
    upload.someone.client.delete(address, headers=upload.someone.headers)
    assert upload.open(**{"Idempotency-Key": "k1"}).status_code == 409


def test_a_commit_that_meets_a_cancellation_is_not_said_to_have_worked(uploading, services: Services):
    upload: Uploading = uploading()
    upload.open()
    upload.put_all()
    as_it_was = services.catalog.get(upload.opened["video_id"])
    uploads.give_up(services, as_it_was.id, "cancelled")
    for block_id, piece in upload.blocks.items():
        services.blobs.stage_block(SOURCES, as_it_was.source, block_id, piece)
    with pytest.raises(Conflict):
        uploads.commit(services, as_it_was, list(upload.blocks))


def test_the_longest_list_of_blocks_is_taken_and_a_longer_request_is_refused(uploading):
    upload: Uploading = uploading()
    upload.open()
    longest = [base64.b64encode(f"{number:064d}".encode()).decode() for number in range(50_000)]
    assert upload.commit(longest).status_code == 400
    answer = upload.commit([*longest, "x" * 8_000_000])
    assert (answer.status_code, answer.json["error"]["code"]) == (413, "TooLarge")


def test_a_form_larger_than_any_form_is_not_taken_in(someone):
    anna = someone()
    assert anna.client.post("/account/tokens", data={"label": "x" * 2_000_000}).status_code == 413


@pytest.mark.parametrize("kind", ["text/html\r\nX-Evil: 1", "nonsense", "video/mp4; codecs=avc1", ""])
def test_a_content_type_is_kept_only_if_it_is_one(someone, services: Services, kind: str):
    anna = someone()
    body = {"filename": "a.mp4", "size": 10, "content_type": kind}
    opened = anna.client.post("/api/v1/uploads", json=body, headers=anna.headers).json
    kept = services.catalog.get(opened["video_id"]).content_type
    assert kept == ("video/mp4" if kind.startswith("video") else "application/octet-stream")


def test_a_title_too_long_or_with_nothing_to_read_is_refused_by_name(someone, a_video):
    anna = someone()
    video = a_video(anna.person, findable=False)
    for title in ("x" * 201, "", " \n ", "\u200b"):
        answer = anna.client.patch(f"/api/v1/videos/{video.id}", json={"title": title}, headers=anna.headers)
        assert answer.status_code == 400, title
        assert answer.json["error"]["message"].startswith("Title: ")


def test_titles_keep_what_holds_letters_and_emoji_together(someone, services: Services):
    anna = someone()
    title = "می‌خواهم 👨‍👩‍👧"
    body = {"filename": "a.mp4", "size": 10, "title": title}
    opened = anna.client.post("/api/v1/uploads", json=body, headers=anna.headers).json
    assert services.catalog.get(opened["video_id"]).title == title


def test_a_store_that_is_busy_says_when_to_come_back(someone, services: Services, app):
    def busy(*args, **kwargs):
        raise Busy("the store cannot answer now")

    app.view_functions["api.uploads.open_upload"] = busy
    anna = someone()
    answer = anna.client.post("/api/v1/uploads", json={}, headers=anna.headers)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")


def test_a_file_of_more_than_fifty_thousand_usual_blocks_gets_larger_ones(uploading):
    upload: Uploading = uploading(size=1024**3)
    size = upload.open().json["block_size"]
    assert size * 50_000 >= 1024**3


@pytest.mark.parametrize(
    "body", [b'{"a":' * 50_000, b'{"filename": "a", "size": 1, "more": ' + b"[" * 50_000 + b"]" * 50_000 + b"}"]
)
def test_json_nested_without_end_is_refused(someone, body):
    anna = someone()
    answer = anna.client.post("/api/v1/uploads", data=body, content_type="application/json", headers=anna.headers)
    assert answer.status_code == 400
    assert answer.json["error"]["code"] == "Invalid"


def test_what_is_not_seen_is_left_out_of_tags_and_names(uploading, services: Services):
    unseen = ["\u202eevil\x1b[31m\x00", "\x00\x01\x02", " a \u200e tag "]
    upload: Uploading = uploading(tags=unseen, actors=unseen, directors=unseen, title="A\u202e title")
    assert upload.open().status_code == 201
    video = services.catalog.get(upload.opened["video_id"])
    assert video.tags == video.actors == video.directors == ("evil [31m", "a tag")
    assert video.title == "A title"
