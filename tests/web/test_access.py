"""Every route of the site, against every privacy and everybody; a new route fails until it is said who may use it."""

import msgspec
import pytest
from flask import Flask

from shared.videos import Video
from tests.web.conftest import sign_in

EVERYBODY = ("nobody", "viewer", "other", "owner", "operator")
CHANGES = {"owner", "operator"}

# Routes that show one video: what a private one answers to those who may not see it is 404.
SEES = {
    ("GET", "/watch/<video_id>"),
    ("GET", "/embed/<video_id>"),
    ("GET", "/media/<video_id>/<any('master.m3u8', 'video.mp4', 'poster.jpg', 'storyboard.vtt'):file>"),
    ("GET", "/media/<video_id>/<path:file>"),
    ("GET", "/api/v1/videos/<video_id>"),
}
# Routes that change one video, or show what only its owner needs.
ALTERS = {
    ("GET", "/studio/<video_id>"),
    ("POST", "/studio/<video_id>"),
    ("POST", "/studio/<video_id>/delete"),
    ("POST", "/studio/<video_id>/retry"),
    ("PATCH", "/api/v1/videos/<video_id>"),
    ("DELETE", "/api/v1/videos/<video_id>"),
    ("POST", "/api/v1/videos/<video_id>/retry"),
    ("GET", "/api/v1/uploads/<video_id>"),
    ("PUT", "/api/v1/uploads/<video_id>/blocks/<whole:block_id>"),
    ("POST", "/api/v1/uploads/<video_id>/commit"),
    ("DELETE", "/api/v1/uploads/<video_id>"),
}
# Routes about no video in particular: the least role each needs (None: anybody).
OTHERS = {
    ("GET", "/"): None,
    ("GET", "/search"): None,
    ("GET", "/channel/<name>"): None,
    ("GET", "/health/live"): None,
    ("GET", "/health/ready"): None,
    ("GET", "/api/v1/search"): None,
    ("GET", "/api/v1/openapi.json"): None,
    ("GET", "/static/<path:filename>"): None,
    ("GET", "/fs-static/<path:filename>"): None,
    ("GET", "/login"): None,
    ("POST", "/login"): None,
    ("GET", "/register"): None,
    ("POST", "/register"): None,
    ("POST", "/logout"): None,
    ("GET", "/blobs/<container>/<whole:name>"): None,
    ("PUT", "/blobs/<container>/<whole:name>"): None,
    ("GET", "/account"): "viewer",
    ("POST", "/account/tokens"): "viewer",
    ("POST", "/account/tokens/<token_id>/revoke"): "viewer",
    ("GET", "/upload"): "creator",
    ("GET", "/studio"): "creator",
    ("GET", "/api/v1/uploads"): "creator",
    ("POST", "/api/v1/uploads"): "creator",
}


@pytest.fixture
def crowd(someone, nobody):
    return {
        "viewer": someone("victor", role="viewer"),
        "other": someone("boris"),
        "owner": someone("anna"),
        "operator": someone("olga", role="operator"),
    }


def routes(app: Flask) -> set[tuple[str, str]]:
    return {
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


def test_every_route_is_declared_here(app: Flask):
    declared = SEES | ALTERS | set(OTHERS)
    assert routes(app) == declared


def ask(crowd, nobody, who: str, method: str, rule: str, video: Video):
    paths = {
        "<video_id>": video.id,
        "<any('master.m3u8', 'video.mp4', 'poster.jpg', 'storyboard.vtt'):file>": "poster.jpg",
        "<path:file>": "g1/first/aa/360p_00000.m4s",
        "<whole:block_id>": "MDAwMDAw",
    }
    path = rule
    for pattern, value in paths.items():
        path = path.replace(pattern, value)
    client, headers = (nobody, {}) if who == "nobody" else (crowd[who].client, crowd[who].headers)
    return client.open(path, method=method, headers=headers, json={} if method in ("POST", "PATCH") else None)


@pytest.mark.parametrize("privacy", ["public", "unlisted", "private"])
@pytest.mark.parametrize("who", EVERYBODY)
def test_a_video_is_shown_to_those_who_may_see_it_and_does_not_exist_for_others(
    crowd, nobody, a_video, privacy: str, who: str
):
    video = a_video(crowd["owner"].person, privacy=privacy, findable=False)
    may = privacy != "private" or who in CHANGES
    for method, rule in SEES:
        answer = ask(crowd, nobody, who, method, rule, video)
        assert answer.status_code == (200 if may else 404), (method, rule)
        if not may:
            assert video.title not in answer.text


@pytest.mark.parametrize("privacy", ["public", "unlisted", "private"])
@pytest.mark.parametrize("who", ["nobody", "viewer", "other"])
def test_nobody_but_the_owner_and_operators_changes_a_video(
    crowd, nobody, a_video, services, app, privacy: str, who: str
):
    app.config["WTF_CSRF_ENABLED"] = False
    video = a_video(crowd["owner"].person, privacy=privacy, findable=False)
    for method, rule in ALTERS:
        answer = ask(crowd, nobody, who, method, rule, video)
        assert answer.status_code in (302, 401, 403, 404), (method, rule, answer.status_code)
        if answer.status_code == 302:
            assert "/login" in answer.headers["Location"]
    assert services.catalog.get(video.id) == video


@pytest.mark.parametrize("who", sorted(CHANGES))
def test_the_owner_and_operators_change_it(crowd, a_video, services, who: str):
    video = a_video(crowd["owner"].person, privacy="private", findable=False)
    asking = crowd[who]
    answer = asking.client.patch(f"/api/v1/videos/{video.id}", json={"title": "New"}, headers=asking.headers)
    assert answer.status_code == 200
    assert services.catalog.get(video.id).title == "New"


def test_search_and_channel_show_each_person_only_what_is_listed_for_them(crowd, nobody, a_video):
    owner = crowd["owner"]
    seen = {privacy: a_video(owner.person, privacy=privacy).id for privacy in ("public", "unlisted", "private")}

    def found(client, headers):
        return {video["id"] for video in client.get("/api/v1/search?q=night", headers=headers).json["videos"]}

    assert found(nobody, {}) == {seen["public"]}
    assert found(crowd["other"].client, crowd["other"].headers) == {seen["public"]}
    assert found(owner.client, owner.headers) == set(seen.values())
    page = nobody.get("/channel/anna").text
    assert seen["public"] in page
    assert seen["unlisted"] not in page
    assert seen["private"] not in page


OWN = [(route, role) for route, role in OTHERS.items() if role is not None]


@pytest.mark.parametrize(("route", "role"), OWN)
def test_pages_of_ones_own_need_a_person(nobody, app, route, role):
    app.config["WTF_CSRF_ENABLED"] = False
    method, rule = route
    answer = nobody.open(rule.replace("<token_id>", "x"), method=method)
    if rule.startswith("/api/"):
        assert answer.status_code == 401
    else:
        assert answer.status_code == 302
        # Back to the page that was asked for; a form cannot be sent by a link.
        assert answer.headers["Location"] == (f"/login?next={rule}" if method == "GET" else "/login")


@pytest.mark.parametrize(("route", "role"), OWN)
def test_a_viewer_uses_what_viewers_may_and_nothing_above_it(someone, app, route, role):
    app.config["WTF_CSRF_ENABLED"] = False
    method, rule = route
    viewer = someone("victor", role="viewer")
    answer = viewer.client.open(rule.replace("<token_id>", "x"), method=method, headers=viewer.headers)
    assert (answer.status_code == 403) == (role != "viewer"), answer.status_code


@pytest.mark.parametrize(("route", "role"), OWN)
def test_a_creator_uses_all_of_it(someone, app, route, role):
    app.config["WTF_CSRF_ENABLED"] = False
    method, rule = route
    anna = someone()
    answer = anna.client.open(rule.replace("<token_id>", "x"), method=method, headers=anna.headers)
    assert answer.status_code not in (302, 401, 403) or rule.endswith("/revoke"), answer.status_code


@pytest.mark.parametrize("privacy", ["public", "unlisted", "private"])
@pytest.mark.parametrize("who", sorted(CHANGES))
def test_no_route_of_a_video_is_closed_to_its_owner_and_operators(crowd, a_video, app, privacy: str, who: str):
    app.config["WTF_CSRF_ENABLED"] = False
    for method, rule in sorted(SEES | ALTERS):
        video = a_video(crowd["owner"].person, privacy=privacy, findable=False)
        answer = ask(crowd, None, who, method, rule, video)
        assert answer.status_code not in (401, 403, 404), (method, rule)


def test_a_closed_account_sees_and_changes_nothing_of_its_own(someone, a_video, services):
    anna = someone()
    video = a_video(anna.person, privacy="private", findable=False)
    services.people.change(anna.person.id, lambda person: msgspec.structs.replace(person, active=False))
    assert anna.client.get(f"/api/v1/videos/{video.id}", headers=anna.headers).status_code == 401
    assert anna.client.get("/api/v1/uploads", headers=anna.headers).status_code == 401


def test_what_anybody_may_see_is_the_same_for_every_cache(someone, a_video, nobody):
    anna = someone()
    sign_in(nobody, "anna")
    segment = "g1/first/aa/360p_00000.m4s"
    assert nobody.get("/account").status_code == 200
    open_answer = nobody.get(f"/media/{a_video(anna.person).id}/{segment}")
    assert "Cookie" not in open_answer.headers.get("Vary", "")
    assert "Set-Cookie" not in open_answer.headers
    closed_answer = nobody.get(f"/media/{a_video(anna.person, privacy='private').id}/{segment}")
    assert closed_answer.status_code == 200
    assert "Cookie" in closed_answer.headers["Vary"]


def test_a_deleted_video_does_not_exist_for_its_owner_either(crowd, nobody, a_video):
    owner = crowd["owner"]
    video = a_video(owner.person)
    assert owner.client.delete(f"/api/v1/videos/{video.id}", headers=owner.headers).status_code == 204
    for method, rule in SEES:
        assert ask(crowd, nobody, "owner", method, rule, video).status_code == 404, (method, rule)
