"""The storage account: its three clients, from a connection string, or an address and the machine's own identity."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from azure.data.tables import TableServiceClient
from azure.storage.blob import BlobServiceClient
from azure.storage.queue import QueueServiceClient

from shared.azure.transport import Observe, Transport
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
    key: str | None = field(repr=False)


def names_account(storage: str) -> bool:
    """Whether a setting's value names an account: a connection string, or https://ACCOUNT.blob.core.windows.net."""
    return storage.startswith("https://") or _is_connection_string(storage)


def open_account(storage: str, observe: Observe = lambda *_: None, *, transport: Any = None) -> Account:
    """Opens no connection yet. Raises Invalid, without showing the value, for what names no account."""
    options = {
        "transport": transport or Transport(observe), "retry_total": 0, "logging_enable": False,
        "max_single_get_size": READ_SIZE, "max_chunk_get_size": READ_SIZE,
    }  # fmt: skip
    if _is_connection_string(storage):
        return _by_connection_string(storage, options)
    return _by_identity(storage, options)


def _is_connection_string(storage: str) -> bool:
    return storage.lower().startswith(("defaultendpointsprotocol=", "blobendpoint=", "accountname=")) or (
        storage.lower() == "usedevelopmentstorage=true"
    )


def _by_connection_string(storage: str, options: dict[str, Any]) -> Account:
    try:
        blobs = BlobServiceClient.from_connection_string(storage, **options)
        return Account(
            blobs=blobs,
            queues=QueueServiceClient.from_connection_string(storage, **options),
            tables=TableServiceClient.from_connection_string(storage, **options),
            name=str(blobs.account_name),
            key=_key(storage),
        )
    except (ValueError, KeyError):
        raise Invalid(
            "MATINEE_STORAGE is not a connection string of a storage account; copy it from the account's access keys"
        ) from None


def _by_identity(address: str, options: dict[str, Any]) -> Account:
    # Only where it is needed: it takes a while to load.
    from azure.identity import DefaultAzureCredential

    host = urlsplit(address).hostname or ""
    name, mark, rest = host.partition(".blob.")
    if not mark or not rest:
        raise Invalid(f"MATINEE_STORAGE must look like https://ACCOUNT.blob.core.windows.net, not {address!r}")
    credential = DefaultAzureCredential()
    return Account(
        blobs=BlobServiceClient(f"https://{host}", credential, **options),
        queues=QueueServiceClient(f"https://{name}.queue.{rest}", credential, **options),
        tables=TableServiceClient(endpoint=f"https://{name}.table.{rest}", credential=credential, **options),
        name=name,
        key=None,
    )


def _key(storage: str) -> str | None:
    words = dict(word.partition("=")[::2] for word in storage.split(";") if word)
    return next((value for name, value in words.items() if name.lower() == "accountkey"), None)
