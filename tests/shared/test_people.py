"""People: names are unique, tokens are kept as digests, and a role may do what those below it may."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, cast

import msgspec
import pytest

from shared.errors import Conflict, Invalid, NotFound
from shared.people import ROLES, TOKEN_PREFIX, People, hash_password, new_session_key, password_fits
from shared.tables import Tables
from tests.workers.clock import HandClock


@pytest.fixture
def people(tables: Tables, clock: HandClock) -> People:
    people = People(tables, clock)
    people.ensure()
    return people


def test_a_person_is_found_by_id_name_and_address(people: People) -> None:
    ada = people.create("Ada", "hash", email="Ada@example.org")
    for found in (people.get(ada.id), people.by_name("ada"), people.by_email("ADA@EXAMPLE.ORG")):
        assert (found.id, found.name, found.email, found.password) == (ada.id, "Ada", "Ada@example.org", "hash")


def test_nobody_is_not_found(people: People) -> None:
    for act in (people.get, people.by_name, people.by_email, people.by_session_key, people.by_token):
        with pytest.raises(NotFound):
            act("nobody")


@pytest.mark.parametrize(("name", "email"), [("ADA", None), ("bob", "ada@example.org")])
def test_names_and_addresses_are_taken_without_regard_to_case(people: People, name: str, email: str | None) -> None:
    people.create("Ada", "hash", email="Ada@Example.org")
    with pytest.raises(Conflict):
        people.create(name, "hash", email=email)


def test_of_many_who_want_a_name_one_gets_it(people: People) -> None:
    def attempt(_: int) -> bool:
        try:
            people.create("Ada", "hash")
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as many:
        assert list(many.map(attempt, range(8))).count(True) == 1


def test_a_name_claimed_by_nobody_who_was_ever_entered_is_free_after_a_minute(
    people: People, tables: Tables, clock: HandClock
) -> None:
    with pytest.raises(ConnectionError):
        People(cast(Tables, DiesBeforeThePerson(tables)), clock).create("Ada", "hash")
    with pytest.raises(Conflict):
        people.create("Ada", "hash")
    clock.forward(61)
    people.create("Ada", "hash")
    assert people.by_name("Ada").name == "Ada"


class DiesBeforeThePerson:
    """A table store whose caller is gone by the time the person's own row is to be written."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tables, name)

    def insert(self, table: str, partition: str, row: str, properties: Any) -> str:
        if row == "person":
            raise ConnectionError
        return self._tables.insert(table, partition, row, properties)


@pytest.mark.parametrize("name", ["", "ab", "x" * 41, "two words", "-ada", "ada-", "a/b", "ada\n"])
def test_a_name_that_is_no_address_is_refused(people: People, name: str) -> None:
    with pytest.raises(Invalid):
        people.create(name, "hash")


def test_an_unknown_role_is_refused(people: People) -> None:
    with pytest.raises(Invalid):
        people.create("Ada", "hash", role="king")


def test_a_role_may_do_what_those_below_it_may(people: People) -> None:
    for place, role in enumerate(ROLES):
        person = people.create(f"the-{role}", "hash", role=role)
        assert [person.may(other) for other in ROLES] == [at <= place for at in range(len(ROLES))]
        assert not msgspec.structs.replace(person, active=False).may("viewer")


def test_a_session_ends_when_its_key_changes(people: People) -> None:
    ada = people.create("Ada", "hash")
    assert people.by_session_key(ada.session_key).id == ada.id
    people.change(ada.id, lambda person: msgspec.structs.replace(person, session_key=new_session_key(ada.id)))
    with pytest.raises(NotFound):
        people.by_session_key(ada.session_key)


def test_a_token_is_shown_once_and_kept_as_a_digest(people: People, tables: Tables) -> None:
    ada = people.create("Ada", "hash")
    plain = people.create_token(ada.id, "  my   script ")
    assert plain.startswith(TOKEN_PREFIX)
    assert people.by_token(plain).id == ada.id
    assert [token.label for token in people.tokens(ada.id)] == ["my script"]
    kept = tables.query("people", None).entities
    assert not any(plain in str(entity) for entity in kept)


def test_a_token_revoked_opens_nothing(people: People) -> None:
    ada = people.create("Ada", "hash")
    plain, other = people.create_token(ada.id, "one"), people.create_token(ada.id, "two")
    (token,) = [token for token in people.tokens(ada.id) if token.label == "one"]
    people.revoke_token(ada.id, token.id)
    with pytest.raises(NotFound):
        people.by_token(plain)
    assert people.by_token(other).id == ada.id


def test_a_token_opens_nothing_once_it_has_expired(people: People, clock: HandClock) -> None:
    ada = people.create("Ada", "hash")
    plain = people.create_token(ada.id, "for a week", life=timedelta(days=7))
    clock.forward(7 * 86400 - 1)
    assert people.by_token(plain).id == ada.id
    clock.forward(1)
    with pytest.raises(NotFound):
        people.by_token(plain)
    assert people.tokens(ada.id) == []


def test_everybody_is_listed_by_name(people: People) -> None:
    for name in ("Cleo", "ada", "Bob"):
        people.create(name, "hash")
    assert [person.name for person in people.all()] == ["ada", "Bob", "Cleo"]


def test_a_password_is_kept_as_a_hash_that_only_it_fits() -> None:
    kept = hash_password("correct horse")
    assert kept.startswith("$argon2id$")
    assert password_fits("correct horse", kept)
    assert not password_fits("battery staple", kept)
    assert not password_fits("correct horse", "no hash at all")


@pytest.mark.parametrize("password", ["", "short", "x" * 201])
def test_a_password_too_short_or_too_long_is_refused(password: str) -> None:
    with pytest.raises(Invalid):
        hash_password(password)
