"""user: accounts, made and changed at the terminal."""

import argparse
import getpass
import sys
from typing import Any

import msgspec

from infra.commands import table
from infra.commands.site import Site
from infra.first_start import ADMIN
from shared.errors import Invalid, NotFound
from shared.people import ROLES, Person, check_role, hash_password, new_session_key
from shared.services import Services


def add(subjects: Any) -> None:
    words = subjects.add_parser("user", help="accounts").add_subparsers(required=True, metavar="COMMAND")
    create = words.add_parser("create", help="make an account")
    create.add_argument("name")
    create.add_argument("--role", default="creator", choices=ROLES, help="default: creator")
    create.add_argument("--email")
    create.set_defaults(run=_create, make=True)
    password = words.add_parser("password", help="set a new password, and end the account's sessions")
    password.add_argument("name")
    password.set_defaults(run=_password)
    for word in (create, password):
        word.add_argument(
            "--password-stdin", action="store_true", help="read it from standard input; else it is asked for"
        )
    role = words.add_parser("role", help="change what an account may do")
    role.add_argument("name")
    role.add_argument("role", choices=ROLES)
    role.set_defaults(run=_role)
    words.add_parser("list", help="everybody").set_defaults(run=_list)


def find(services: Services, name: str) -> Person:
    try:
        return services.people.by_name(name)
    except NotFound:
        raise NotFound(f"there is nobody called {name!r}; infra/manage user list says who there is") from None


def _create(site: Site, options: argparse.Namespace) -> None:
    password = hash_password(_read_password(options))
    person = site.services.people.create(options.name, password, role=options.role, email=options.email)
    print(f"made {person.name}, {person.role}")


def _password(site: Site, options: argparse.Namespace) -> None:
    person = find(site.services, options.name)
    password = hash_password(_read_password(options))

    def changed(person: Person) -> Person:
        return msgspec.structs.replace(person, password=password, session_key=new_session_key(person.id))

    site.services.people.change(person.id, changed)
    if person.name == ADMIN:
        site.folder.first_password.unlink(missing_ok=True)
    print(f"{person.name} has a new password and is signed out everywhere")


def _role(site: Site, options: argparse.Namespace) -> None:
    person = find(site.services, options.name)
    site.services.people.change(person.id, lambda one: msgspec.structs.replace(one, role=check_role(options.role)))
    print(f"{person.name} is now {options.role}")


def _list(site: Site, _: argparse.Namespace) -> None:
    people = site.services.people.all()
    rows = (
        (one.name, one.role, one.email or "-", table.moment(one.created), "yes" if one.active else "no")
        for one in people
    )
    table.show(["name", "role", "e-mail", "created", "active"], rows, none="There is nobody yet.")


def _read_password(options: argparse.Namespace) -> str:
    """Nothing around it but the end of the line is taken off."""
    if options.password_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise Invalid("give the password on standard input, and say --password-stdin")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != password:
        raise Invalid("the two passwords differ")
    return password
