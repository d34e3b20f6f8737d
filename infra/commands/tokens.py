"""token: what a person's programs sign in with."""

import argparse
from datetime import timedelta
from typing import Any

from infra.commands import table, users
from infra.commands.site import Site

_MOST_DAYS = 3650


def add(subjects: Any) -> None:
    words = subjects.add_parser("token", help="personal API tokens").add_subparsers(required=True, metavar="COMMAND")
    create = words.add_parser("create", help="make a token and print it, the only time it is shown")
    create.add_argument("--label", default="infra/manage", help="what it is for")
    create.add_argument("--days", type=_days, metavar="N", help="how long it is good for (default: until revoked)")
    create.set_defaults(run=_create)
    listed = words.add_parser("list", help="a person's tokens, newest first")
    listed.set_defaults(run=_list)
    revoke = words.add_parser("revoke", help="end a token at once")
    revoke.set_defaults(run=_revoke)
    for word in (create, listed, revoke):
        word.add_argument("name", help="the account's name")
    revoke.add_argument("id", help="the token's id, as token list shows it")


def _create(site: Site, options: argparse.Namespace) -> None:
    person = users.find(site.services, options.name)
    life = timedelta(days=options.days) if options.days else None
    print(site.services.people.create_token(person.id, options.label, life=life))


def _list(site: Site, options: argparse.Namespace) -> None:
    person = users.find(site.services, options.name)
    tokens = site.services.people.tokens(person.id)
    rows = (
        (token.id, token.label, table.moment(token.created), table.moment(token.expires) if token.expires else "-")
        for token in tokens
    )
    table.show(["id", "label", "created", "expires"], rows, none=f"{person.name} has no tokens.")


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _MOST_DAYS):
        raise argparse.ArgumentTypeError(f"a whole number of days from 1 to {_MOST_DAYS}, not {text!r}")
    return int(text)


def _revoke(site: Site, options: argparse.Namespace) -> None:
    person = users.find(site.services, options.name)
    site.services.people.revoke_token(person.id, options.id)
    print(f"revoked {options.id}")
