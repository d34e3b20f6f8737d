"""Signing up, in and out, and what forms and errors look like."""

import re
import unicodedata
from datetime import timedelta
from urllib.parse import urljoin, urlsplit

import msgspec
import pytest

from shared.errors import NotFound
from shared.people import hash_password, new_session_key, password_fits
from shared.services import open_services
from shared.settings import Settings
from tests.web.conftest import PASSWORD, send, sign_in, token_of
from tests.workers.clock import HandClock
from web.app import create_app
from web.errors import TooMany
from web.patience import Patience


def test_whoever_signs_up_is_signed_in_and_may_upload(nobody, services):
    answer = send(nobody, "/register", name="nora", email="nora@example.org", password="long enough")
    assert answer.status_code == 302
    assert services.people.by_name("NORA").role == "creator"
    assert nobody.get("/upload").status_code == 200


def test_one_signs_in_by_name_or_by_address(app, services):
    services.people.create("mira", hash_password(PASSWORD), email="mira@example.org")
    for identity in ("mira", "MIRA", "mira@example.org"):
        client = app.test_client()
        assert send(client, "/login", email=identity, password=PASSWORD).status_code == 302, identity
        assert client.get("/account").status_code == 200


def test_a_wrong_password_and_an_unknown_name_are_told_alike(app, someone):
    someone("mira")
    wrong = send(app.test_client(), "/login", email="mira", password="not it at all")
    unknown = send(app.test_client(), "/login", email="nobody-here", password="not it at all")
    assert wrong.status_code == unknown.status_code == 200
    for answer in (wrong, unknown):
        assert "The name or the password is not right." in answer.text


def test_guessing_passwords_has_to_wait(app, someone):
    someone("mira")
    client = app.test_client()
    for _ in range(10):
        send(client, "/login", email="mira", password="not it at all")
    assert client.post("/login", data={"email": "mira", "password": PASSWORD, "csrf_token": token_of(
        client.get("/login").text)}).status_code == 429


def test_signing_out_ends_the_session(nobody, someone):
    someone("mira")
    send(nobody, "/login", email="mira", password=PASSWORD)
    page = nobody.get("/account").text
    assert nobody.post("/logout", data={"csrf_token": token_of(page)}).status_code == 302
    assert nobody.get("/account").status_code == 302


def test_a_name_taken_is_said_beside_the_field(nobody, someone):
    someone("mira")
    answer = send(nobody, "/register", name="Mira", email="m2@example.org", password="long enough")
    assert answer.status_code == 200
    assert "This name is taken." in answer.text


def test_after_signing_in_one_is_never_sent_to_another_site(app, someone):
    someone("mira")
    client = app.test_client()
    answer = client.post("/login?next=https://evil.example/", data={
        "email": "mira", "password": PASSWORD, "csrf_token": token_of(client.get("/login").text)})
    assert "evil.example" not in answer.headers.get("Location", "")


def test_a_form_without_its_token_changes_nothing(nobody, someone, services):
    someone("mira")
    send(nobody, "/login", email="mira", password=PASSWORD)
    assert nobody.post("/account/tokens", data={"label": "x"}).status_code == 400
    assert len(services.people.tokens(services.people.by_name("mira").id)) == 1


def test_another_sites_page_cannot_use_the_cookie_on_the_api(nobody, someone, a_video, services):
    mira = someone("mira")
    video = a_video(mira.person)
    send(nobody, "/login", email="mira", password=PASSWORD)
    address = f"/api/v1/videos/{video.id}"
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert nobody.delete(address, headers=headers).status_code == 403
    assert services.catalog.get(video.id).state == "published"
    assert nobody.patch(address, json={"title": "Mine"}, headers={"Origin": "http://localhost"}).status_code == 200


def test_a_token_is_shown_once_works_and_can_be_revoked(nobody, someone, services):
    mira = someone("mira")
    send(nobody, "/login", email="mira", password=PASSWORD)
    page = nobody.post("/account/tokens", data={"label": "my script", "csrf_token": token_of(
        nobody.get("/account").text)}).text
    token = re.search(r"mtn_[\w-]+", page).group(0)
    assert token not in nobody.get("/account").text
    client = nobody.application.test_client()
    headers = {"Authorization": f"Bearer {token}"}
    assert client.get("/api/v1/uploads", headers=headers).status_code == 200
    [made] = [kept for kept in services.people.tokens(mira.person.id) if kept.label == "my script"]
    services.people.revoke_token(mira.person.id, made.id)
    assert client.get("/api/v1/uploads", headers=headers).status_code == 401


@pytest.mark.parametrize(("life", "days"), [("30", 30), ("90", 90), ("365", 365), ("", None), ("a week", None)])
def test_a_token_is_good_for_as_long_as_was_chosen(nobody, someone, services, life, days):
    mira = someone("mira")
    send(nobody, "/login", email="mira", password=PASSWORD)
    form = {"label": "my script", "life": life, "csrf_token": token_of(nobody.get("/account").text)}
    assert "mtn_" in nobody.post("/account/tokens", data=form).text
    [made] = [kept for kept in services.people.tokens(mira.person.id) if kept.label == "my script"]
    assert made.expires == (made.created + timedelta(days=days) if days else None)
    assert ("good until" in nobody.get("/account").text) == (days is not None)


def test_a_new_session_key_ends_every_session(nobody, someone, services):
    mira = someone("mira")
    send(nobody, "/login", email="mira", password=PASSWORD)
    services.people.change(
        mira.person.id, lambda person: msgspec.structs.replace(person, session_key=new_session_key(person.id))
    )
    assert nobody.get("/account").status_code == 302


@pytest.mark.parametrize("there", ["/\\evil.example", "//evil.example", "///evil.example", "https:evil.example",
                                   "\\\\evil.example", "http://localhost@evil.example", "javascript:alert(1)",
                                   "\t//evil.example", "/\t/evil.example"])
def test_no_trick_of_writing_sends_one_to_another_site(app, someone, there):
    someone("mira")
    client = app.test_client()
    fields = {"email": "mira", "password": PASSWORD, "csrf_token": token_of(client.get("/login").text)}
    answer = client.post("/login", query_string={"next": there}, data=fields)
    back = urljoin("http://localhost/login", answer.headers.get("Location", "/"))
    assert urlsplit(back).netloc == "localhost"


def test_one_comes_back_to_the_page_one_wanted(app, someone):
    someone("mira")
    client = app.test_client()
    wanted = client.get("/studio").headers["Location"]
    fields = {"email": "mira", "password": PASSWORD, "csrf_token": token_of(client.get(wanted).text)}
    assert client.post(wanted, data=fields).headers["Location"] == "/studio"


@pytest.mark.parametrize("password", ["pässwörter", unicodedata.normalize("NFD", "pässwörter"), "ﬁne ② passwords"])
def test_an_account_an_operator_made_signs_in_with_any_password(app, services, password):
    services.people.create("mira", hash_password(password))
    assert sign_in(app.test_client(), "mira", unicodedata.normalize("NFC", password)).status_code == 302


def test_a_password_given_here_is_kept_as_an_operator_would_keep_it(nobody, services):
    send(nobody, "/register", name="nora", email="nora@example.org", password="long enough")
    kept = services.people.by_name("nora").password
    assert password_fits("long enough", kept)
    assert kept.rsplit("$", 2)[0] == hash_password("long enough").rsplit("$", 2)[0]


def test_an_address_taken_is_said_beside_its_field(nobody, services):
    services.people.create("mira", hash_password(PASSWORD), email="mira@example.org")
    answer = send(nobody, "/register", name="another", email="MIRA@example.org", password="long enough")
    assert answer.status_code == 200
    with pytest.raises(NotFound):
        services.people.by_name("another")


def test_a_closed_account_does_not_sign_in(app, someone, services):
    mira = someone("mira")
    services.people.change(mira.person.id, lambda person: msgspec.structs.replace(person, active=False))
    assert sign_in(app.test_client(), "mira").status_code == 200


def test_nobody_signs_up_where_sign_up_is_closed(tmp_path):
    settings = Settings(storage=f"local:{tmp_path}/data", secret_key="a key for tests", sign_up=False)
    client = create_app(open_services(settings, caller="test")).test_client()
    assert client.get("/register").status_code == 404
    assert client.get("/login").status_code == 200


def test_patience_ends(app):
    clock = HandClock()
    patience = Patience(clock)
    for _ in range(10):
        patience.note("mira", "::1", fits=False)
    with pytest.raises(TooMany):
        patience.check(" MIRA", "::1")
    patience.check("mira", "::2")
    clock.forward(301)
    patience.check("mira", "::1")


def test_cookies_are_not_for_scripts_and_not_for_other_sites(nobody, someone):
    someone("mira")
    sign_in(nobody, "mira")
    cookie = nobody.get_cookie("session")
    assert cookie.http_only
    assert cookie.same_site == "Lax"


@pytest.mark.parametrize("path", ["/", "/login", "/search?q=sea", "/nowhere", "/static/nothing", "/watch/nothing"])
def test_a_token_that_is_none_gets_a_calm_page_wherever_it_is_sent(nobody, path):
    answer = nobody.get(path, headers={"Authorization": "Bearer x"})
    assert answer.status_code in (200, 401, 404), answer.text[:200]
    assert "<h1" in answer.text
    if answer.status_code == 401:
        assert "token" in answer.text


def test_every_spelling_of_a_name_shares_its_patience(app, someone, services):
    mira = someone("mira").person
    services.people.change(mira.id, lambda person: msgspec.structs.replace(person, email="mira@example.org"))
    for name in ("mira", "ＭＩＲＡ", "Ｍira", "MIRA", " mira ") * 2:
        send(app.test_client(), "/login", email=name, password="not it at all")
    assert send(app.test_client(), "/login", email="ｍｉｒａ", password=PASSWORD).status_code == 429


@pytest.mark.parametrize("name", ["mira", "nobody-here"])
def test_a_password_of_any_length_is_just_not_right(app, someone, name):
    someone("mira")
    answer = send(app.test_client(), "/login", email=name, password="x" * 5000)
    assert answer.status_code == 200
    assert "The name or the password is not right." in answer.text


def test_a_new_password_longer_than_any_is_said_beside_its_field(nobody):
    answer = send(nobody, "/register", name="nora", email="nora@example.org", password="x" * 5000)
    assert answer.status_code == 200
    assert "at most 200 characters" in answer.text


@pytest.mark.parametrize("body", ['"x"', "[" * 100_000, '{"a":' * 50_000, '{"email": "mira", "password": "\\ud800"}', "{"])
@pytest.mark.parametrize("path", ["/login", "/register"])
def test_forms_do_not_take_json(nobody, path, body):
    token = token_of(nobody.get(path).text)
    answer = nobody.post(path, data=body, content_type="application/json", headers={"X-CSRFToken": token})
    assert answer.status_code == 400
    assert "form" in answer.text
