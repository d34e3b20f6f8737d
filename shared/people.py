"""People who sign in, and the tokens their programs use, over one table.

A name or e-mail address is claimed by inserting a row of its own, so two people can never have the same; a claim
whose person was never entered (a crash in between) is free again after a minute.
"""

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from shared.clock import Clock
from shared.errors import Conflict, Invalid, NotFound
from shared.tables import Entity, Tables, every_entity

PEOPLE = "people"
ROLES = ("viewer", "creator", "operator", "admin")
"""Each may do what those before it may: watch; upload; see the console and run the pools; manage people."""

TOKEN_PREFIX = "mtn_"
_NAME = re.compile(r"[\w][\w.-]{1,38}[\w]")
_CLAIM_LIFE = timedelta(minutes=1)
MIN_PASSWORD = 8
MAX_PASSWORD = 200
PASSWORD_FORM: Final = "NFKD"
"""The Unicode form hashed, so that one password typed on two keyboards is one."""
HASH_ROUNDS, HASH_MEMORY, HASH_LANES = 2, 19 * 1024, 1
"""What an Argon2 hash costs (memory in KiB), as OWASP's cheat sheet has it: many may sign in at once."""


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """One account. `name` is the channel's address, unique without regard to case; `password` an Argon2 hash."""

    id: str
    name: str
    email: str | None = None
    password: str = ""
    role: str = "creator"
    active: bool = True
    created: datetime
    session_key: str
    """`<id>.<random>`; a new one ends every session of this person."""
    etag: str = ""

    def may(self, role: str) -> bool:
        """Whether this person may do what `role` may."""
        return self.active and ROLES.index(self.role) >= ROLES.index(role)


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a personal API token: never the token itself. One without `expires` is good until revoked."""

    id: str
    person: str
    label: str
    created: datetime
    digest: str
    expires: datetime | None = None


class People:
    """Accounts and tokens. Methods raise NotFound for who or what is not there, Conflict for what is taken."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self._tables = tables
        self._clock = clock

    def ensure(self) -> None:
        self._tables.ensure_table(PEOPLE)

    # Accounts

    def create(self, name: str, password_hash: str, *, role: str = "creator", email: str | None = None) -> Person:
        """Raises Invalid for a name, address or role that cannot be, Conflict for a name or address taken.

        The hash is one of `hash_password`.
        """
        person_id = secrets.token_hex(8)
        person = Person(
            id=person_id,
            name=check_name(name),
            email=email.strip() if email and email.strip() else None,
            password=password_hash,
            role=check_role(role),
            created=self._clock.now(),
            session_key=new_session_key(person_id),
        )
        self._claim_all(person)
        self._tables.insert(PEOPLE, person.id, "person", _properties(person))
        self._tables.upsert(PEOPLE, "everybody", person.name.casefold(), {"id": person.id})
        return person

    def get(self, person_id: str) -> Person:
        return _person(self._tables.get(PEOPLE, person_id, "person"))

    def by_name(self, name: str) -> Person:
        try:
            return self._claimed("name", check_name(name.strip()))
        except Invalid as error:
            raise NotFound(f"there is nobody of that name: {error}") from None

    def by_email(self, email: str) -> Person:
        return self._claimed("email", email)

    def by_session_key(self, key: str) -> Person:
        person = self.get(key.partition(".")[0])
        if not secrets.compare_digest(person.session_key, key):
            raise NotFound("this session has ended")
        return person

    def change(self, person_id: str, how: Callable[[Person], Person]) -> Person:
        """Compare-and-swap until it holds. Names and addresses cannot be changed this way."""
        while True:
            person = self.get(person_id)
            changed = how(person)
            try:
                etag = self._tables.update(PEOPLE, person.id, "person", _properties(changed), if_match=person.etag)
            except Conflict:
                continue
            return msgspec.structs.replace(changed, etag=etag)

    def all(self) -> Iterator[Person]:
        """Everybody by name."""
        return (self.get(str(row.properties["id"])) for row in every_entity(self._tables, PEOPLE, "everybody"))

    def _claim_all(self, person: Person) -> None:
        """Both or none: whoever is told that the address is taken may try again with the name."""
        self._claim("name", person.name, person)
        if person.email:
            try:
                self._claim("email", person.email, person)
            except Conflict:
                self._tables.delete(PEOPLE, _place("name", person.name), "claim")
                raise

    def _claim(self, kind: str, text: str, person: Person) -> None:
        place, wanted = _place(kind, text), {"id": person.id}
        try:
            self._tables.insert(PEOPLE, place, "claim", wanted)
        except Conflict:
            claim = self._tables.get(PEOPLE, place, "claim")
            taken = Conflict(f"the {'name' if kind == 'name' else 'e-mail address'} {text!r} is taken")
            if self._stands(claim):
                raise taken from None
            try:
                self._tables.update(PEOPLE, place, "claim", wanted, if_match=claim.etag)
            except Conflict:
                raise taken from None

    def _stands(self, claim: Entity) -> bool:
        if self._clock.now() - claim.timestamp < _CLAIM_LIFE:
            return True
        try:
            self.get(str(claim.properties["id"]))
        except NotFound:
            return False
        return True

    def _claimed(self, kind: str, text: str) -> Person:
        claim = self._tables.get(PEOPLE, _place(kind, text), "claim")
        return self.get(str(claim.properties["id"]))

    # Tokens

    def create_token(self, person_id: str, label: str, *, life: timedelta | None = None) -> str:
        """A new personal API token, good for so long; it is shown this once, only its SHA-256 is kept."""
        now = self._clock.now()
        plain = TOKEN_PREFIX + secrets.token_urlsafe(32)
        token = Token(
            id=secrets.token_hex(6),
            person=person_id,
            label=" ".join(label.split())[:80] or "API",
            created=now,
            digest=_digest(plain),
            expires=now + life if life is not None else None,
        )
        body = {"json": msgspec.json.encode(token).decode()}
        self._tables.insert(PEOPLE, f"token:{token.digest}", "token", body)
        self._tables.insert(PEOPLE, f"tokens:{person_id}", token.id, body)
        return plain

    def by_token(self, plain: str) -> Person:
        token = _token(self._tables.get(PEOPLE, f"token:{_digest(plain)}", "token"))
        if self._has_expired(token):
            raise NotFound("this token has expired")
        return self.get(token.person)

    def tokens(self, person_id: str) -> list[Token]:
        """Newest first."""
        page = self._tables.query(PEOPLE, f"tokens:{person_id}")
        good = (token for token in map(_token, page.entities) if not self._has_expired(token))
        return sorted(good, key=lambda token: token.created, reverse=True)

    def expired_tokens(self) -> Iterator[Token]:
        """Those still kept though they open nothing any more."""
        rows = every_entity(self._tables, PEOPLE, None)
        tokens = (_token(row) for row in rows if row.partition.startswith("tokens:"))
        return (token for token in tokens if self._has_expired(token))

    def _has_expired(self, token: Token) -> bool:
        return token.expires is not None and token.expires <= self._clock.now()

    def revoke_token(self, person_id: str, token_id: str) -> None:
        token = _token(self._tables.get(PEOPLE, f"tokens:{person_id}", token_id))
        with suppress(NotFound):  # somebody died, or was faster, between the two
            self._tables.delete(PEOPLE, f"token:{token.digest}", "token")
        self._tables.delete(PEOPLE, f"tokens:{person_id}", token_id)


def check_name(name: str) -> str:
    """The name as it is kept.

    Raises Invalid unless it can be a channel's address: 3 to 40 letters, digits, dots, dashes, underscores.
    """
    name = unicodedata.normalize("NFKC", name)
    if not _NAME.fullmatch(name):
        raise Invalid("a name is 3 to 40 letters, digits, dots, dashes or underscores, the ends letters or digits")
    return name


def check_role(role: str) -> str:
    if role not in ROLES:
        raise Invalid(f"a role is one of {', '.join(ROLES)}, not {role!r}")
    return role


def new_session_key(person_id: str) -> str:
    return f"{person_id}.{secrets.token_hex(16)}"


def hash_password(password: str) -> str:
    """An Argon2id hash. Raises Invalid for a password under 8 or over 200 characters."""
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise Invalid(f"a password has {MIN_PASSWORD} to {MAX_PASSWORD} characters")
    hasher = PasswordHasher(time_cost=HASH_ROUNDS, memory_cost=HASH_MEMORY, parallelism=HASH_LANES)
    return hasher.hash(unicodedata.normalize(PASSWORD_FORM, password))


def password_fits(password: str, password_hash: str) -> bool:
    try:
        return PasswordHasher().verify(password_hash, unicodedata.normalize(PASSWORD_FORM, password))
    except (Argon2Error, InvalidHashError):
        return False


def _place(kind: str, text: str) -> str:
    """The partition of a claim. An address is hashed, because it may hold what no key can."""
    plain = unicodedata.normalize("NFKC", text).strip().casefold()
    return f"name:{plain}" if kind == "name" else f"email:{_digest(plain)}"


def _digest(plain: str) -> str:
    return hashlib.sha256(plain.encode()).hexdigest()


def _properties(person: Person) -> dict[str, str]:
    return {"json": msgspec.json.encode(msgspec.structs.replace(person, etag="")).decode()}


def _person(entity: Entity) -> Person:
    person = msgspec.json.decode(str(entity.properties["json"]), type=Person)
    return msgspec.structs.replace(person, etag=entity.etag)


def _token(entity: Entity) -> Token:
    return msgspec.json.decode(str(entity.properties["json"]), type=Token)
