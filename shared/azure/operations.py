"""What each request asked for, in the words of the service's documentation and of its bill."""

from urllib.parse import parse_qs, urlsplit

from shared.azure.transport import BUSY, Observe
from shared.telemetry import Count

_BLOB = {
    "PUT": "PutBlob", "GET": "GetBlob", "HEAD": "GetBlobProperties", "DELETE": "DeleteBlob",
    "PUT block": "PutBlock", "PUT blocklist": "PutBlockList", "GET blocklist": "GetBlockList",
    "PUT metadata": "SetBlobMetadata", "PUT lease": "LeaseBlob",
}  # fmt: skip
_CONTAINER = {
    "PUT": "CreateContainer", "GET": "GetContainerProperties", "HEAD": "GetContainerProperties",
    "DELETE": "DeleteContainer", "GET list": "ListBlobs", "PUT metadata": "SetContainerMetadata",
    "PUT acl": "SetContainerAcl",
}  # fmt: skip
_BLOB_SERVICE = {
    "GET list": "ListContainers", "PUT properties": "SetBlobServiceProperties",
    "GET properties": "GetBlobServiceProperties", "POST userdelegationkey": "GetUserDelegationKey",
}  # fmt: skip
_QUEUE = {
    "PUT": "CreateQueue", "DELETE": "DeleteQueue", "GET list": "ListQueues", "GET metadata": "GetQueueMetadata",
    "HEAD metadata": "GetQueueMetadata", "PUT metadata": "SetQueueMetadata",
}  # fmt: skip
_MESSAGES = {"POST": "PutMessage", "GET": "GetMessages", "DELETE": "ClearMessages"}
_MESSAGE = {"PUT": "UpdateMessage", "DELETE": "DeleteMessage"}
_TABLES = {"POST": "CreateTable", "GET": "QueryTables", "DELETE": "DeleteTable"}
_ENTITIES = {"POST": "InsertEntity", "GET": "QueryEntities"}
_ENTITY = {"GET": "GetEntity", "PUT": "UpdateEntity", "PATCH": "MergeEntity", "DELETE": "DeleteEntity"}


def counting(count: Count) -> Observe:
    """Each try counts; one that met a busy service, or broke on the way, under a name of its own."""

    def observe(store: str, method: str, address: str, status: int) -> None:
        name = operation(store, method, address)
        count(store, f"{name} busy" if status in BUSY or not status else name)

    return observe


def operation(store: str, method: str, address: str) -> str:
    """For a request of one of the three stores (blob, queue, table); its method where nothing is known of it."""
    parts = urlsplit(f"//{address}")
    query = parse_qs(parts.query)
    comp, restype = (query.get(word, [""])[0] for word in ("comp", "restype"))
    names = {"blob": _blob_names, "queue": _queue_names, "table": _table_names}[store](parts.path, restype)
    return names.get(f"{method} {comp}".strip(), method)


def _blob_names(_: str, restype: str) -> dict[str, str]:
    if restype == "container":
        return _CONTAINER
    return _BLOB_SERVICE | _BLOB if restype != "service" else _BLOB_SERVICE


def _queue_names(path: str, _: str) -> dict[str, str]:
    head, mark, rest = path.partition("/messages")
    if not mark or not head:
        return _QUEUE
    return _MESSAGE if rest.strip("/") else _MESSAGES


def _table_names(path: str, _: str) -> dict[str, str]:
    last = path.rsplit("/", 1)[-1]
    if last.startswith("$batch"):
        return {"POST": "Batch"}
    if last.startswith("Tables"):
        return _TABLES
    return _ENTITY if "PartitionKey=" in last else _ENTITIES
