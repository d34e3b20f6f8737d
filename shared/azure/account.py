"""The storage account: its three clients, from a connection string, or an address and the machine's own identity."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from azure.data.tables import TableServiceClient
from azure.storage.blob import BlobServiceClient
from azure.storage.queue import QueueServiceClient

from shared.azure.transport import Observe, Transport
from shared.clock import Clock, SystemClock
from shared.errors import Invalid

READ_SIZE = 4 * 1024**2
"""Bytes of a blob held in memory, and fetched by one request, while it is read."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """`key` is None where the machine's identity is used; it is never shown."""

    blobs: BlobServiceClient
    queues: QueueServiceClient
    tables: TableServiceClient
    name: str
    key: str | None = field(default=None, repr=False)
    clock: Clock = field(default_factory=SystemClock)


def open_account(
    storage: str, observe: Observe = lambda *_: None, clock: SystemClock | None = None, *, patience: float = 8.0
) -> Account:
    """Opens no connection yet. `clock` is put right by the service's time, whatever this machine's says; `patience` is
    the seconds a busy service is asked again.

    Raises Invalid, without showing the value, for what names no account.
    """
    clock = clock or SystemClock()
    options = _options(observe, clock, patience)
    if _is_connection_string(storage):
        return _by_connection_string(storage, clock, *options)
    if storage.startswith("https://"):
        return _by_identity(storage, clock, *options)
    raise Invalid(
        "MATINEE_STORAGE must be local:PATH, the connection string of a storage account, or "
        "https://ACCOUNT.blob.core.windows.net"
    )


def _options(observe: Observe, clock: SystemClock, patience: float) -> tuple[dict[str, Any], ...]:
    """For blobs, queues and tables."""
    shared: dict[str, Any] = {"retry_total": 0, "logging_enable": False}
    sizes = {"max_single_get_size": READ_SIZE, "max_chunk_get_size": READ_SIZE}
    return tuple(
        {**shared, **more, "transport": Transport(store, observe, clock.hear, patience=patience)}
        for store, more in {"blob": sizes, "queue": {}, "table": {}}.items()
    )


def _is_connection_string(storage: str) -> bool:
    return storage.lower().startswith(("defaultendpointsprotocol=", "blobendpoint=", "accountname=")) or (
        storage.lower() == "usedevelopmentstorage=true"
    )


def _by_connection_string(storage: str, clock: Clock, *options: dict[str, Any]) -> Account:
    of_blobs, of_queues, of_tables = options
    try:
        blobs = BlobServiceClient.from_connection_string(storage, **of_blobs)
        return Account(
            blobs=blobs,
            queues=QueueServiceClient.from_connection_string(storage, **of_queues),
            tables=TableServiceClient.from_connection_string(storage, **of_tables),
            name=str(blobs.account_name),
            key=_key(storage),
            clock=clock,
        )
    except (ValueError, KeyError):
        raise Invalid(
            "MATINEE_STORAGE is not a connection string of a storage account; copy it from the account's access keys"
        ) from None


def _by_identity(address: str, clock: Clock, *options: dict[str, Any]) -> Account:
    # Only where it is needed: it takes a while to load.
    from azure.identity import DefaultAzureCredential

    host = urlsplit(address).hostname or ""
    name, mark, rest = host.partition(".blob.")
    if not mark or not rest:
        raise Invalid(f"MATINEE_STORAGE must look like https://ACCOUNT.blob.core.windows.net, not {address!r}")
    credential = DefaultAzureCredential()
    of_blobs, of_queues, of_tables = options
    return Account(
        blobs=BlobServiceClient(f"https://{host}", credential, **of_blobs),
        queues=QueueServiceClient(f"https://{name}.queue.{rest}", credential, **of_queues),
        tables=TableServiceClient(endpoint=f"https://{name}.table.{rest}", credential=credential, **of_tables),
        name=name,
        clock=clock,
    )


def _key(storage: str) -> str | None:
    words = dict(word.partition("=")[::2] for word in storage.split(";") if word)
    return next((value for name, value in words.items() if name.lower() == "accountkey"), None)
