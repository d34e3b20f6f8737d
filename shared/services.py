"""The only place that picks a backend; everything else is handed what it needs."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import gettempdir
from typing import cast

import structlog

from shared.audit import AuditLog
from shared.blobs import Blobs
from shared.claimcheck import ClaimCheckQueues
from shared.clock import Clock, SystemClock
from shared.errors import MatineeError
from shared.local.blobs import LocalBlobs
from shared.local.queues import LocalQueues
from shared.local.tables import LocalTables
from shared.metrics import Metrics
from shared.partitions import PartitionedQueues
from shared.people import People
from shared.poison import Poison
from shared.queues import Queues
from shared.search.finder import Finder
from shared.search.writer import IndexWriter
from shared.settings import Settings
from shared.tables import Tables
from shared.telemetry import Count, Meter, Metered
from shared.tickets import QUEUES, Announce, Deliver, TicketQueues
from shared.topics.receiver import Receiver
from shared.topics.subscriptions import Subscription, Subscriptions
from shared.tracing import Tracing, open_tracing
from shared.untold import Untold
from shared.videos import MEDIA, SOURCES, Catalog
from shared.wake import Bus, NoBus, account_of
from shared.wake.sockets import SocketBus
from shared.wake.waking import WakingQueues

Stores = tuple[Blobs, Queues, Tables]


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
    bus: Bus
    tracing: Tracing
    subscriptions: Subscriptions
    audit: AuditLog
    untold: Untold

    def receiver(self, subscription: Subscription) -> Receiver:
        """Of the copies that wait in it."""
        return Receiver(subscription, self.queues, self.tables)

    def deliver(self, name: str) -> None:
        """Have what waits in this subscription handed to its receiver."""
        self.tickets.send(Deliver(subscription=name, made=self.clock.now()))

    @cached_property
    def metrics(self) -> Metrics | None:
        """What this process counts for Prometheus; None where nobody asked for it. Its storage operations are."""
        if not self.settings.metrics:
            return None
        metrics = Metrics()
        self.meter.tell_also(metrics.operation)
        return metrics

    @property
    def account(self) -> str:
        """Whose calls on the bus are ours."""
        return account_of(self.settings)

    @cached_property
    def finder(self) -> Finder:
        """This machine's replica of the search index, shared by its processes."""
        return Finder(self.blobs, self.clock, self.scratch / "search")

    @cached_property
    def index_writer(self) -> IndexWriter:
        """What this process writes to the search index through."""
        return IndexWriter(self.blobs, self.clock, self.scratch / "search")


def open_services(
    settings: Settings, *, caller: str, clock: Clock | None = None, patience: float = 8.0
) -> Services:
    """Open the storage the settings name and make sure every container, queue and table is there.

    `caller` names this kind of process in the count of storage operations; `patience` is how many seconds a storage
    on other machines is asked again while it is busy or away. Raises Invalid for a storage it does not
    know, Busy or Full if the storage cannot be opened now.
    """
    clock, meter = clock or SystemClock(), Meter(caller)
    return _assembled(settings, open_stores(settings, clock, meter.count, patience=patience), meter, clock)


def build_services(
    settings: Settings, blobs: Blobs, queues: Queues, tables: Tables, *, caller: str, clock: Clock
) -> Services:
    """The same over stores already open; each call of theirs counts as one operation."""
    meter = Meter(caller)
    return _assembled(settings, _metered((blobs, queues, tables), meter.count), meter, clock)


def open_stores(settings: Settings, clock: Clock, count: Count, *, patience: float = 8.0) -> Stores:
    """The stores the settings name, not layered, every operation of theirs counted. Raises as `open_services` does.

    The embedded store is asked once for each call; what Azure Storage is asked is counted request by request.
    """
    if settings.is_local:
        return _metered(_local_stores(settings, clock), count)
    # Only where it is asked for: the SDK takes a second to load and tens of megabytes to keep.
    from shared.azure.stores import open_azure

    return open_azure(settings.storage, count, clock if isinstance(clock, SystemClock) else None, patience=patience)


def let_browsers_in(settings: Settings, origins: Sequence[str]) -> bool:
    """Allow pages of these origins to send blocks to the storage itself; False where blocks go through the web role."""
    if settings.is_local:
        return False
    from shared.azure.account import open_account
    from shared.azure.browsers import let_browsers_in

    let_browsers_in(open_account(settings.storage), origins)
    return True


def _local_stores(settings: Settings, clock: Clock) -> Stores:
    root = settings.local_path()
    return (
        LocalBlobs(root / "blobs", clock, secret=settings.secret_key),
        LocalQueues(root / "queues.db", clock),
        LocalTables(root / "tables.db", clock),
    )


def _metered(stores: Stores, count: Count) -> Stores:
    names = ("blob", "queue", "table")
    return cast(Stores, tuple(Metered(store, name, count) for store, name in zip(stores, names, strict=True)))


def _assembled(settings: Settings, stores: Stores, meter: Meter, clock: Clock) -> Services:
    blobs, queues, tables = stores
    bus = _open_bus(settings)
    queues = _layered(queues, blobs, settings, bus)
    tickets = TicketQueues(queues)
    catalog = Catalog(tables, clock, partial(_announce, tickets, clock))
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
        tickets=tickets,
        poison=Poison(tables, blobs, queues, catalog, clock),
        bus=bus,
        tracing=open_tracing(settings.trace, meter.caller),
        subscriptions=Subscriptions(tables, queues, clock),
        audit=AuditLog(tables),
        untold=Untold(tables),
    )
    for container in (SOURCES, MEDIA):
        blobs.ensure_container(container)
    services.catalog.ensure()
    services.people.ensure()
    services.tickets.ensure()
    services.poison.ensure()
    services.audit.ensure()
    services.subscriptions.ensure()
    return services


def _announce(
    tickets: TicketQueues, clock: Clock, video_id: str, generation: int, traceparent: str | None
) -> None:
    """The fact is recorded: if its ticket cannot be sent now, the sweep sends one later."""
    try:
        tickets.send(Announce(video=video_id, generation=generation, made=clock.now(), traceparent=traceparent))
    except MatineeError as error:
        structlog.get_logger().info("announced later", video=video_id, reason=str(error))


def _layered(queues: Queues, blobs: Blobs, settings: Settings, bus: Bus) -> Queues:
    """Over metered stores, so that what is counted is what the service is asked for."""
    partitions = {queue: settings.queue_partitions for queue in QUEUES if queue.startswith("transcode-")}
    layered = ClaimCheckQueues(PartitionedQueues(queues, partitions if settings.queue_partitions > 1 else {}), blobs)
    return layered if isinstance(bus, NoBus) else WakingQueues(layered, bus, account_of(settings))


def _open_bus(settings: Settings) -> Bus:
    wake = settings.wake
    if wake == "off" or (wake == "auto" and not settings.is_local):
        return NoBus()
    if wake in ("auto", "unix"):
        return SocketBus(_scratch(settings) / "wake")
    # Only where it is asked for: it takes a moment to load.
    from shared.wake.redis import RedisBus

    return RedisBus(wake)


def metrics_folder(settings: Settings) -> Path:
    """Where the processes of this machine keep what they count."""
    folder = _scratch(settings) / "metrics"
    folder.mkdir(exist_ok=True)
    return folder


def _scratch(settings: Settings) -> Path:
    if settings.scratch:
        folder = Path(settings.scratch)
    elif settings.is_local:
        folder = settings.local_path() / "scratch"
    else:
        folder = Path(gettempdir()) / f"matinee-{os.getuid()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
