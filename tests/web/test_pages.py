"""Pages answer with what they are about, errors with sentences, the API with its own description."""

from datetime import UTC, datetime, timedelta

import pytest
from openapi_spec_validator import validate

from web.api.description import OPERATIONS


def test_the_front_page_shows_the_newest_public_videos(nobody, a_video, someone):
    anna = someone()
    a_video(anna.person, title="Shown")
    a_video(anna.person, title="Hidden", privacy="private")
    page = nobody.get("/").text
    assert "Shown" in page
    assert "Hidden" not in page


def test_an_empty_site_says_what_to_do(nobody):
    assert nobody.get("/").status_code == 200


def test_search_marks_what_matched_and_escapes_the_rest(nobody, a_video, someone):
    a_video(someone().person, title="<script>alert(1)</script> night", description="A <b>night</b> at sea")
    page = nobody.get("/search?q=night").text
    assert "<mark>night</mark>" in page
    assert "<script>alert(1)" not in page


@pytest.mark.parametrize(
    "query", ['"', "a:b:c", "((", "*", "?*?*", "-", "x" * 10_000, "\x00", "🎬", "AND OR NOT", "title:"]
)
def test_no_question_breaks_the_search(nobody, a_video, someone, query):
    a_video(someone().person)
    assert nobody.get("/api/v1/search", query_string={"q": query}).status_code == 200
    assert nobody.get("/search", query_string={"q": query}).status_code == 200


def test_the_watch_page_has_what_a_player_and_a_link_need(nobody, a_video, someone):
    video = a_video(someone().person, description="A line\nand another", actors=("Keanu Reeves",))
    page = nobody.get(f"/watch/{video.id}").text
    for wanted in (video.title, f"/media/{video.id}/master.m3u8", f"/embed/{video.id}", "Keanu Reeves"):
        assert wanted in page


def test_other_sites_may_frame_the_embed_page_and_no_other(nobody, a_video, someone):
    video = a_video(someone().person)
    assert "frame-ancestors *" in nobody.get(f"/embed/{video.id}").headers["Content-Security-Policy"]
    assert "frame-ancestors 'self'" in nobody.get(f"/watch/{video.id}").headers["Content-Security-Policy"]


def test_a_failure_nobody_foresaw_is_a_calm_page_without_a_traceback(nobody, monkeypatch, app):
    def broken(*args, **kwargs):
        raise RuntimeError("secret detail")

    monkeypatch.setitem(app.view_functions, "home.page", broken)
    answer = nobody.get("/")
    assert answer.status_code == 500
    assert "secret detail" not in answer.text
    assert "Traceback" not in answer.text


def test_an_address_that_leads_nowhere_says_so_in_its_own_form(nobody):
    assert "<html" in nobody.get("/nowhere").text
    assert nobody.get("/api/v1/nowhere").json["error"]["message"]
    assert nobody.get("/watch/doesnotexis").status_code == 404


def test_the_owner_edits_in_the_studio_and_the_index_is_told(someone, a_video, services, app):
    app.config["WTF_CSRF_ENABLED"] = False
    anna = someone()
    video = a_video(anna.person)
    form = {"title": "Renamed", "description": "d", "tags": "one, two", "actors": "", "directors": "", "language": "en",
            "privacy": "unlisted"}
    answer = anna.client.post(f"/studio/{video.id}", data=form, headers=anna.headers)
    assert answer.status_code == 302
    now = services.catalog.get(video.id)
    assert (now.title, now.tags, now.privacy) == ("Renamed", ("one", "two"), "unlisted")
    assert now.revision == video.revision + 1
    assert services.queues.depth("index").messages == 1
    assert video.id in list(services.catalog.active())


def test_a_mistake_in_the_studio_is_said_beside_its_field_and_nothing_typed_is_lost(someone, a_video, app):
    app.config["WTF_CSRF_ENABLED"] = False
    anna = someone()
    video = a_video(anna.person)
    form = {"title": "Kept as typed", "language": "not a language", "privacy": "public"}
    answer = anna.client.post(f"/studio/{video.id}", data=form, headers=anna.headers)
    assert answer.status_code == 200
    assert "Kept as typed" in answer.text
    assert "code such as en" in answer.text


def test_a_failed_video_can_be_tried_again_and_says_why_it_failed(someone, a_video, services):
    anna = someone()
    video = a_video(anna.person, state="failed", reason="this is a web page, not a video")
    page = anna.client.get(f"/studio/{video.id}", headers=anna.headers).text
    assert "this is a web page, not a video" in page.lower()
    answer = anna.client.post(f"/api/v1/videos/{video.id}/retry", headers=anna.headers)
    assert answer.status_code == 202
    assert services.queues.depth("ingest").messages == 1
    assert answer.json["state"] in ("queued", "processing", "playable")


def test_a_video_of_which_nothing_was_given_up_cannot_be_tried_again(someone, a_video):
    anna = someone()
    answer = anna.client.post(f"/api/v1/videos/{a_video(anna.person).id}/retry", headers=anna.headers)
    assert answer.status_code == 409
    assert answer.json["error"]["message"] == "There is nothing to try again: no work on this video was given up."


def test_the_api_describes_itself(nobody):
    document = nobody.get("/api/v1/openapi.json").json
    assert document["openapi"].startswith("3.1")
    assert "post" in document["paths"]["/api/v1/uploads"]
    opening = document["components"]["schemas"]["Opening"]
    assert set(opening["required"]) == {"filename", "size"}
    for path in document["paths"].values():
        for operation in path.values():
            assert operation["summary"]
            assert "default" in operation["responses"]


@pytest.mark.parametrize("text", ["²", "0", "-1", "1001", "1e3", "x", "9" * 5000])
def test_a_page_that_is_none_is_not_found(nobody, text):
    assert nobody.get("/search", query_string={"q": "night", "page": text}).status_code == 404
    assert nobody.get("/api/v1/search", query_string={"q": "night", "page": text}).status_code == 404


@pytest.mark.parametrize("text", ["²", "0", "101", "x"])
def test_a_limit_that_is_none_is_refused_by_name(nobody, text):
    answer = nobody.get("/api/v1/search", query_string={"q": "night", "limit": text})
    assert answer.status_code == 400
    assert answer.json["error"]["message"] == "Limit: 1 to 100."


def test_what_the_index_finds_and_the_catalog_has_not_is_left_out(nobody, a_video, someone, services):
    gone, there = (a_video(someone(name).person) for name in ("anna", "boris"))
    services.tables.delete("videos", gone.id, "video")
    answer = nobody.get("/api/v1/search?q=night")
    assert [video["id"] for video in answer.json["videos"]] == [there.id]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_method_an_address_does_not_take_says_which_it_does(nobody, method):
    answer = nobody.open("/api/v1/search", method=method)
    assert answer.status_code == 405
    assert "GET" in answer.headers["Allow"]


def test_a_channel_whose_newest_videos_are_private_shows_the_public_ones_behind_them(nobody, a_video, someone):
    anna = someone()
    start = datetime(2026, 1, 1, tzinfo=UTC)
    shown = a_video(anna.person, title="At the bottom", created=start, findable=False)
    for minute in range(1, 31):
        when = start + timedelta(minutes=minute)
        a_video(anna.person, privacy="private", created=when, findable=False)
    assert shown.title in nobody.get("/channel/anna").text


def test_what_the_api_says_of_itself_is_a_valid_openapi_document(nobody):
    validate(nobody.get("/api/v1/openapi.json").json)


def test_every_route_of_the_api_is_described(app):
    routes = {rule.endpoint.removeprefix("api.") for rule in app.url_map.iter_rules() if rule.endpoint.startswith("api.")}
    assert set(OPERATIONS) == routes


def test_a_video_is_answered_with_just_what_is_described(nobody, a_video, someone):
    video = a_video(someone().person, findable=False)
    described = nobody.get("/api/v1/openapi.json").json["components"]["schemas"]["VideoAnswer"]
    assert set(nobody.get(f"/api/v1/videos/{video.id}").json) == set(described["properties"])
