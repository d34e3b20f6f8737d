"""Signing up, in and out, and what forms and errors look like."""

import re

import msgspec

from shared.people import hash_password, new_session_key
from tests.web.conftest import PASSWORD, send, token_of


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


def test_a_new_session_key_ends_every_session(nobody, someone, services):
    mira = someone("mira")
    send(nobody, "/login", email="mira", password=PASSWORD)
    services.people.change(
        mira.person.id, lambda person: msgspec.structs.replace(person, session_key=new_session_key(person.id))
    )
    assert nobody.get("/account").status_code == 302
