"""The three stores of one account, every request to it counted by the name its bill gives it."""

from shared.azure.account import open_account
from shared.azure.blobs import AzureBlobs
from shared.azure.operations import counting
from shared.azure.queues import AzureQueues
from shared.azure.tables import AzureTables
from shared.clock import SystemClock
from shared.telemetry import Count


def open_azure(
    storage: str, count: Count, clock: SystemClock | None = None, *, patience: float = 8.0
) -> tuple[AzureBlobs, AzureQueues, AzureTables]:
    """`clock` is put right by the service's. Raises Invalid, without showing the value, for what names no account."""
    account = open_account(storage, counting(count), clock, patience=patience)
    return AzureBlobs(account), AzureQueues(account.queues), AzureTables(account.tables)
