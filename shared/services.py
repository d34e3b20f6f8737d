"""The only place that picks a backend; everything else is handed what it needs."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import gettempdir
from typing import cast

from shared.blobs import Blobs
from shared.claimcheck import ClaimCheckQueues
from shared.clock import Clock, SystemClock
from shared.errors import Invalid
from shared.local.blobs import LocalBlobs
from shared.local.queues import LocalQueues
from shared.local.tables import LocalTables
from shared.partitions import PartitionedQueues
from shared.people import People
from shared.poison import Poison
from shared.queues import Queues
from shared.search.finder import Finder
from shared.search.writer import IndexWriter
from shared.settings import Settings
from shared.tables import Tables
from shared.telemetry import Meter, Metered
from shared.tickets import QUEUES, TicketQueues
from shared.videos import MEDIA, SOURCES, Catalog


@dataclass(frozen=True, kw_only=True)
class Services:
    """What a process works with. `scratch` is a folder on this machine for work in progress."""

    settings: Settings
    clock: Clock
    meter: Meter
    scratch: Path
    blobs: Blobs
    queues: Queues
    tables: Tables
    catalog: Catalog
    people: People
    tickets: TicketQueues
    poison: Poison

    @cached_property
    def finder(self) -> Finder:
        """This machine's replica of the search index, shared by its processes."""
        return Finder(self.blobs, self.clock, self.scratch / "search")

    @cached_property
    def index_writer(self) -> IndexWriter:
        """What this process writes to the search index through."""
        return IndexWriter(self.blobs, self.clock, self.scratch / "search")


def open_services(settings: Settings, *, caller: str, clock: Clock | None = None) -> Services:
    """Open the storage the settings name and make sure every container, queue and table is there.

    `caller` names this kind of process in the count of storage operations. Raises Invalid for a storage it does not
    know, Busy or Full if the storage cannot be opened now.
    """
    clock = clock or SystemClock()
    blobs, queues, tables = open_stores(settings, clock)
    return build_services(settings, blobs, queues, tables, caller=caller, clock=clock)


def build_services(
    settings: Settings, blobs: Blobs, queues: Queues, tables: Tables, *, caller: str, clock: Clock
) -> Services:
    """The same over stores already open; each is metered here."""
    meter = Meter(caller)
    blobs = cast(Blobs, Metered(blobs, "blob", meter))
    queues = _layered(cast(Queues, Metered(queues, "queue", meter)), blobs, settings)
    tables = cast(Tables, Metered(tables, "table", meter))
    catalog = Catalog(tables, clock)
    services = Services(
        settings=settings,
        clock=clock,
        meter=meter,
        scratch=_scratch(settings),
        blobs=blobs,
        queues=queues,
        tables=tables,
        catalog=catalog,
        people=People(tables, clock),
        tickets=TicketQueues(queues),
        poison=Poison(tables, blobs, queues, catalog, clock),
    )
    for container in (SOURCES, MEDIA):
        blobs.ensure_container(container)
    services.catalog.ensure()
    services.people.ensure()
    services.tickets.ensure()
    services.poison.ensure()
    return services


def open_stores(settings: Settings, clock: Clock) -> tuple[Blobs, Queues, Tables]:
    """The stores the settings name, bare: neither metered nor layered. Raises as `open_services` does."""
    scheme = settings.storage.partition(":")[0]
    if scheme != "local":
        raise Invalid(f"MATINEE_STORAGE names the unknown storage {scheme!r}; use local:PATH")
    root = settings.local_path()
    return (
        LocalBlobs(root / "blobs", clock, secret=settings.secret_key),
        LocalQueues(root / "queues.db", clock),
        LocalTables(root / "tables.db", clock),
    )


def _layered(queues: Queues, blobs: Blobs, settings: Settings) -> Queues:
    """Over metered stores, so that what is counted is what the service is asked for."""
    partitions = {queue: settings.queue_partitions for queue in QUEUES if queue.startswith("transcode-")}
    return ClaimCheckQueues(
        PartitionedQueues(queues, partitions if settings.queue_partitions > 1 else {}), blobs
    )


def _scratch(settings: Settings) -> Path:
    if settings.scratch:
        folder = Path(settings.scratch)
    elif settings.storage.startswith("local:"):
        folder = settings.local_path() / "scratch"
    else:
        folder = Path(gettempdir()) / "matinee"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
