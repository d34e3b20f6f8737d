"""workers: the worker processes of this machine and what they have in hand."""

import argparse
from typing import Any

from infra.commands import table
from infra.commands.site import Site
from workers.report import read_reports

_SHOWN = 3


def add(subjects: Any) -> None:
    words = subjects.add_parser("workers", help="worker processes").add_subparsers(required=True, metavar="COMMAND")
    words.add_parser("list", help="those of this machine, and what they have in hand").set_defaults(run=_list)


def _list(site: Site, _: argparse.Namespace) -> None:
    now = site.services.clock.now()
    rows = [
        (
            report.pid, report.pool, table.age(now - report.started), report.tasks, _at_work(report.tickets),
            report.done, report.retried, report.set_aside,
        )
        for report in sorted(read_reports(site.services.scratch), key=lambda report: (report.pool, report.pid))
    ]  # fmt: skip
    headings = ["pid", "pool", "up", "tasks", "at work on", "done", "retried", "set aside"]
    table.show(headings, rows, none="No worker process runs on this machine.")


def _at_work(tickets: tuple[str, ...]) -> str:
    shown = ", ".join(tickets[:_SHOWN])
    more = len(tickets) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown or "-"
