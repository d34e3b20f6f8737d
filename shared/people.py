"""People who sign in, and the tokens their programs use, over tables."""

import hashlib
import secrets
from datetime import datetime

import msgspec

from shared.clock import Clock
from shared.errors import Conflict, Invalid, NotFound
from shared.tables import Change, Tables

PEOPLE = "people"
ROLES = ("viewer", "creator", "operator", "admin")
"""Each may do what those before it may: watch; upload; see the console and run the pools; manage people."""


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
    """Changes when every session of this person must end (Flask-Security's fs_uniquifier)."""
    etag: str = ""

    def may(self, role: str) -> bool:
        return self.active and ROLES.index(self.role) >= ROLES.index(role)


class People:
    """Accounts and tokens; names and e-mail addresses are unique through rows of their own."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self._tables = tables
        self._clock = clock

    def ensure(self) -> None:
        self._tables.ensure_table(PEOPLE)
