"""storage: made ready, and moved to another."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from tqdm import tqdm

from infra.commands import table
from infra.commands.site import Site
from infra.migration.blobs import BlobCopy, Moved, blobs
from infra.migration.journal import Journal
from infra.migration.tables import TableCopy
from shared.blobs import Blobs
from shared.clock import SystemClock
from shared.errors import Conflict, Invalid, NotFound
from shared.services import Stores, let_browsers_in, open_stores
from shared.settings import Settings
from shared.videos import Catalog

_WHERE = "as in MATINEE_STORAGE, or env:NAME for a variable that holds it, so that no key stands on the command line"


def add(subjects: Any) -> None:
    words = subjects.add_parser("storage", help="where everything is kept").add_subparsers(
        required=True, metavar="COMMAND"
    )
    init = words.add_parser(
        "init",
        help="make all that a site keeps things in, and let browsers send blocks to the storage account themselves",
    )
    init.add_argument(
        "--origin", action="append", default=[], type=_origin, metavar="URL",
        help="where the site's pages come from, such as https://video.example; once for each",
    )
    init.set_defaults(run=_init, make=True)
    copy = words.add_parser(
        "copy",
        help="copy a whole site to another storage; run again, it goes on or copies what changed",
        description="Copies videos, accounts and settings kept in SOURCE to TARGET, each block by its checksum. A run "
        "that was cut short goes on where it stopped. Run it once while the site serves, stop the site, and run it "
        "again for what changed meanwhile. Uploads not finished begin anew; SOURCE is only read.",
    )
    copy.add_argument("source", metavar="SOURCE", help=_WHERE)
    copy.add_argument("target", metavar="TARGET", help="likewise")
    copy.add_argument("--check", action="store_true", help="afterwards read every blob of both and compare")
    copy.set_defaults(run=_copy, make=True)


def _init(site: Site, options: argparse.Namespace) -> None:
    if not site.settings.is_local and not options.origin:
        raise Invalid("--origin is needed: browsers may send blocks only from pages of the addresses named so")
    print(f"{site.services.settings.storage_name}: every container, queue and table is there")
    if let_browsers_in(site.settings, options.origin):
        print(f"browsers may send blocks from pages of {', '.join(options.origin)}, and fetch media by signed links")


def _origin(text: str) -> str:
    address = urlsplit(text)
    if address.scheme not in ("http", "https") or not address.netloc or address.path.strip("/") or address.query:
        raise argparse.ArgumentTypeError(f"{text!r} is not an address like https://video.example")
    return f"{address.scheme}://{address.netloc}"


def _copy(_: Site, options: argparse.Namespace) -> None:
    source, target = (_named(text) for text in (options.source, options.target))
    if source == target:
        raise Invalid("SOURCE and TARGET are the same storage")
    _must_exist(source)
    ours, _queues, records = _opened(source)
    theirs, _queues, written = _opened(target)
    total = _total(ours)
    with _bar(total, "copied") as moved:
        copy = BlobCopy(ours, theirs, Journal(written), moved)
        copy.run()
    tables = TableCopy(records, written)
    tables.run()
    print(
        f"blobs: {copy.copied} copied, {copy.kept} were there, {copy.removed} removed that are gone; "
        f"{table.size(total)} in all\n"
        f"records: {tables.written} written, {tables.removed} removed"
    )
    if options.check:
        _check(copy, tables, total)
    active = sum(1 for _ in Catalog(written, SystemClock()).active())
    if active:
        print(f"{active} videos are at work; the first sweep at the new place sends each its next step")
    print(
        "Start the site there with this MATINEE_STORAGE and the MATINEE_SECRET_KEY it had (in the data folder's "
        "secret-key), or everybody has to sign in again."
    )


def _check(copy: BlobCopy, tables: TableCopy, total: int) -> None:
    with _bar(total, "compared") as moved:
        compared = copy.check(moved)
    if different := tables.differences():
        raise Conflict(f"{different} records changed since they were copied; stop the site, and copy again")
    print(f"compared {compared} blobs and every record: the same on both sides")


def _named(text: str) -> str:
    scheme, _, name = text.partition(":")
    if scheme != "env":
        return text
    if not os.environ.get(name):
        raise Invalid(f"the variable {name} is not set")
    return os.environ[name]


def _must_exist(source: str) -> None:
    """Opening an embedded storage makes it; a slip of the pen in the source must not look like an empty site."""
    if not source.startswith("local:"):
        return
    folder = Settings(storage=source).local_path()
    if not (folder / "tables.db").exists():
        raise NotFound(f"there is no site in {folder}")


def _opened(storage: str) -> Stores:
    """No link is signed here, so the key that signs them does not matter."""
    return open_stores(Settings(storage=storage, secret_key="not used"), SystemClock(), lambda *_: None)


def _total(store: Blobs) -> int:
    return sum(blob.size for blob in blobs(store))


@contextmanager
def _bar(total: int, what: str) -> Iterator[Moved]:
    """A bar on a terminal, nothing where no one watches."""
    with tqdm(
        total=total, unit="B", unit_scale=True, desc=what, file=sys.stderr, disable=not sys.stderr.isatty()
    ) as bar:
        yield bar.update
