"""subscriptions and audit: who is told what happens to videos, and what was told."""

import argparse
from itertools import islice
from typing import Any

import msgspec

from infra.commands import table
from infra.commands.site import Site
from shared.errors import Invalid
from shared.topics.subscriptions import AUDIT, Filter, Subscription
from workers import webhooks

_WIDTH = 60


def add(subjects: Any) -> None:
    words = subjects.add_parser("subscriptions", help="who is told what happens to videos")
    words = words.add_subparsers(required=True, metavar="COMMAND")
    words.add_parser("list", help="all of them, and what waits in each").set_defaults(run=_list)
    _add_create(words.add_parser("create", help="tell a web address, or keep events for a program that asks"))
    for word, help_text, run in (
        ("show", "one, with its filter and why it is disabled", _show),
        ("disable", "copy nothing to it any more", _disable),
        ("enable", "copy to it again, and deliver what waits", _enable),
        ("delete", "with all that waits in it", _delete),
        ("dead-letters", "events its receiver never took", _dead_letters),
        ("replay", "deliver its dead letters again", _replay),
    ):
        command = words.add_parser(word, help=help_text)
        command.add_argument("name")
        command.set_defaults(run=run)
    audit = subjects.add_parser("audit", help="what happened to videos, newest first")
    audit.add_argument("--video", metavar="ID", help="only to this one")
    audit.add_argument("--limit", type=int, default=50, metavar="N", help="default: 50")
    audit.set_defaults(run=_audit)


def _add_create(create: argparse.ArgumentParser) -> None:
    create.add_argument("name")
    create.add_argument("--url", help="a webhook's address; without one it waits for a program")
    create.add_argument("--equal", action="append", default=[], metavar="NAME=VALUE", help="only where this is so")
    create.add_argument("--prefix", action="append", default=[], metavar="NAME=TEXT", help="only where it begins so")
    create.add_argument("--sql", default="", metavar="EXPRESSION", help="only where this is true")
    create.add_argument("--action", default="", metavar="ACTIONS", help="SET name = expression; REMOVE name")
    create.set_defaults(run=_create)


def _create(site: Site, options: argparse.Namespace) -> None:
    """Prints a webhook's secret, the only time it is shown."""
    secret = ""
    if options.url:
        webhooks.check_url(options.url)
        secret = webhooks.new_secret()
    matching = Filter(equal=_pairs(options.equal), prefix=_pairs(options.prefix), sql=options.sql)
    site.services.subscriptions.create(
        options.name, kind="webhook" if options.url else "pull", matching=matching, action=options.action,
        url=options.url or "", secret=secret,
    )  # fmt: skip
    print(secret or f"created {options.name}")


def _list(site: Site, _: argparse.Namespace) -> None:
    rows = (
        (one.name, one.kind, _waiting(site, one), one.url or "-", _state(one))
        for one in site.services.subscriptions.all()
    )
    table.show(["name", "kind", "waiting", "to", "state"], rows, none="There are no subscriptions.")


def _show(site: Site, options: argparse.Namespace) -> None:
    one = site.services.subscriptions.get(options.name)
    dead = site.services.queues.depth(one.dead).messages
    print(f"name          {one.name}\nkind          {one.kind}\nto            {one.url or '-'}")
    print(f"filter        {msgspec.json.encode(one.filter).decode()}\naction        {one.action or '-'}")
    print(f"created       {table.moment(one.created)}\nstate         {_state(one)}")
    print(f"waiting       {_waiting(site, one)}\ndead letters  {dead}")


def _disable(site: Site, options: argparse.Namespace) -> None:
    why = "by an operator"
    site.services.subscriptions.change(options.name, lambda it: msgspec.structs.replace(it, disabled=why))
    print(f"disabled {options.name}")


def _enable(site: Site, options: argparse.Namespace) -> None:
    site.services.subscriptions.change(
        options.name, lambda it: msgspec.structs.replace(it, disabled="", failing=None)
    )
    site.services.deliver(options.name)
    print(f"enabled {options.name}")


def _delete(site: Site, options: argparse.Namespace) -> None:
    if options.name == AUDIT:
        raise Invalid("the audit log stays; disable it if it must not be written")
    site.services.subscriptions.delete(options.name)
    print(f"deleted {options.name}")


def _dead_letters(site: Site, options: argparse.Namespace) -> None:
    one = site.services.subscriptions.get(options.name)
    found = site.services.receiver(one).dead_letters()
    rows = ((dead.event.id, dead.event.type, dead.event.subject, dead.reason[:_WIDTH]) for dead in found)
    table.show(["event", "type", "video", "reason"], rows, none="There are no dead letters.")


def _replay(site: Site, options: argparse.Namespace) -> None:
    one = site.services.subscriptions.get(options.name)
    replayed = site.services.receiver(one).replay()
    site.services.deliver(one.name)
    print(f"{replayed} to be delivered again")


def _audit(site: Site, options: argparse.Namespace) -> None:
    events = islice(site.services.audit.read(options.video), max(0, options.limit))
    rows = ((table.moment(event.time), event.type, event.subject, _told(event.data)) for event in events)
    table.show(["when", "what", "video", "about"], rows, none="Nothing has happened yet.")


def _told(data: dict[str, Any]) -> str:
    about = data.get("reason") or data.get("title") or data.get("part") or ""
    return " ".join(str(about).split())[:_WIDTH]


def _waiting(site: Site, one: Subscription) -> int:
    return site.services.queues.depth(one.queue).messages


def _state(one: Subscription) -> str:
    if one.disabled:
        return f"disabled: {one.disabled}"
    return f"failing since {table.moment(one.failing)}" if one.failing else "active"


def _pairs(texts: list[str]) -> dict[str, Any]:
    pairs = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise Invalid(f"NAME=VALUE is wanted, not {text!r}")
        pairs[name.strip()] = _value(value)
    return pairs


def _value(text: str) -> Any:
    """A number or true and false as such, anything else as it stands."""
    try:
        found = msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return text
    return found if isinstance(found, str | int | float | bool) else text
