"""index: the search index, made anew from the catalog."""

import argparse
import time
from typing import Any

from infra.commands.site import Site
from shared.errors import Busy
from shared.search.entries import rebuild
from shared.services import Services

_PATIENCE = 60.0
"""Seconds to wait for a turn while a worker writes; one that was killed keeps its turn for 15."""


def add(subjects: Any) -> None:
    words = subjects.add_parser("index", help="the search index").add_subparsers(required=True, metavar="COMMAND")
    anew = words.add_parser("rebuild", help="make it anew from the catalog; search goes on in the old one meanwhile")
    anew.set_defaults(run=_rebuild)


def _rebuild(site: Site, _: argparse.Namespace) -> None:
    until = time.monotonic() + _PATIENCE
    while (documents := _try(site.services, until)) is None:
        time.sleep(0.5)
    print(f"{documents} videos can be found in the new index")


def _try(services: Services, until: float) -> int | None:
    try:
        return rebuild(services.catalog, services.index_writer)
    except Busy:
        if time.monotonic() > until:
            raise
        return None
