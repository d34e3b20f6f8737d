"""The three stores of one account, every request to it counted by the name its bill gives it."""

from shared.azure.account import open_account
from shared.azure.blobs import AzureBlobs
from shared.azure.operations import counting
from shared.azure.queues import AzureQueues
from shared.azure.tables import AzureTables
from shared.telemetry import Count


def open_azure(storage: str, count: Count) -> tuple[AzureBlobs, AzureQueues, AzureTables]:
    """Raises Invalid, without showing the value, for what names no account."""
    account = open_account(storage, counting(count))
    return AzureBlobs(account), AzureQueues(account.queues), AzureTables(account.tables)
