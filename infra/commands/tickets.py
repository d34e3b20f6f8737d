"""tickets: how long the lines are, and the tickets set aside."""

import argparse
from typing import Any

from infra.commands import table
from infra.commands.site import Site
from shared.errors import Invalid, MatineeError
from shared.tickets import POISON_SUFFIX, QUEUES
from shared.topics.subscriptions import COPIES

_WIDTH = 80


def add(subjects: Any) -> None:
    words = subjects.add_parser("tickets", help="queues and tickets").add_subparsers(required=True, metavar="COMMAND")
    words.add_parser("queues", help="how many tickets wait, and for how long").set_defaults(run=_queues)
    poison = words.add_parser("poison", help="tickets set aside").add_subparsers(required=True, metavar="COMMAND")
    poison.add_parser("list", help="all of them").set_defaults(run=_list)
    show = poison.add_parser("show", help="one, with its reasons and body")
    show.add_argument("id", help="QUEUE/MESSAGE, as list shows it")
    show.set_defaults(run=_show)
    for word, help_text, run in (("replay", "send again as if new", _replay), ("purge", "drop for good", _purge)):
        command = poison.add_parser(word, help=help_text)
        command.add_argument("id", nargs="*", help="QUEUE/MESSAGE, as list shows it")
        command.add_argument("--all", action="store_true", help="every one there is")
        command.set_defaults(run=run)


def _queues(site: Site, _: argparse.Namespace) -> None:
    queues = site.services.queues
    names = [name for name in queues.list_queues() if not (name.endswith(POISON_SUFFIX) or name.startswith(COPIES))]
    order = {name: place for place, name in enumerate(QUEUES)}
    rows = []
    for name in sorted(names, key=lambda name: (order.get(name, len(order)), name)):
        depth = queues.depth(name)
        aside = sum(1 for _ in site.services.poison.list(name))
        rows.append((name, depth.messages, table.age(depth.oldest), aside))
    table.show(["queue", "tickets", "oldest waiting", "set aside"], rows, none="There are no queues.")


def _list(site: Site, _: argparse.Namespace) -> None:
    found = site.services.poison.list()
    rows = ((one.id, one.tries, table.moment(one.at), _headline(one.reason)) for one in found)
    table.show(["id", "tries", "set aside", "reason"], rows, none="No ticket is set aside.")


def _show(site: Site, options: argparse.Namespace) -> None:
    one = site.services.poison.show(options.id)
    print(f"id       {one.id}\ntries    {one.tries}\nat       {table.moment(one.at)}\nreason   {one.reason}")
    for reason in one.history:
        print(f"earlier  {reason}")
    print(f"body     {one.body}")


def _replay(site: Site, options: argparse.Namespace) -> None:
    """One that cannot be read any more does not keep the others back."""
    refused = 0
    for poison_id in _chosen(site, options):
        try:
            ticket = site.services.poison.replay(poison_id)
        except MatineeError as error:
            refused += 1
            print(f"{poison_id}: {error}")
        else:
            print(f"sent {ticket.id} to {ticket.queue}")
    if refused:
        raise Invalid(f"{refused} not sent")


def _purge(site: Site, options: argparse.Namespace) -> None:
    for poison_id in _chosen(site, options):
        site.services.poison.purge(poison_id)
        print(f"dropped {poison_id}")


def _chosen(site: Site, options: argparse.Namespace) -> list[str]:
    if bool(options.id) == options.all:
        raise Invalid("name the tickets, or say --all")
    return options.id or [one.id for one in site.services.poison.list()]


def _headline(reason: str) -> str:
    """Its first line, cut to a table's width."""
    first = reason.strip().partition("\n")[0]
    return first if len(first) <= _WIDTH else f"{first[: _WIDTH - 3]}..."
