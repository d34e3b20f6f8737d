"""Requests by the names their bill gives them, seen as they really go out."""

from collections import Counter
from datetime import timedelta

from shared.azure.operations import counting
from shared.azure.stores import open_azure
from shared.bill import class_of
from shared.tables import Change
from tests.azurite.running import Account
from tests.contract.making import a_blob_of_blocks


def test_a_blobs_life_request_by_request(account: Account) -> None:
    counted: Counter[tuple[str, str]] = Counter()
    blobs, _, _ = open_azure(account.connection_string, lambda *asked: counted.update([asked]))
    blobs.create_container("media")
    a_blob_of_blocks(blobs, "media", "a", b"x", b"y")
    blobs.put("media", "b", b"z")
    blobs.set_metadata("media", "b", {"k": "v"})
    blobs.get("media", "a")
    blobs.stat("media", "a")
    blobs.list_blobs("media")
    blobs.release_lease("media", "b", blobs.acquire_lease("media", "b", seconds=15))
    blobs.delete("media", "a")
    assert counted == {
        ("blob", "CreateContainer"): 1, ("blob", "PutBlock"): 2, ("blob", "PutBlockList"): 1, ("blob", "PutBlob"): 1,
        ("blob", "SetBlobMetadata"): 1, ("blob", "GetBlob"): 1, ("blob", "ListBlobs"): 1, ("blob", "LeaseBlob"): 2,
        ("blob", "DeleteBlob"): 1, ("blob", "GetBlobProperties"): counted["blob", "GetBlobProperties"],
    }  # fmt: skip
    assert counted["blob", "GetBlobProperties"] >= 1


def test_a_messages_life_request_by_request(account: Account) -> None:
    counted: Counter[tuple[str, str]] = Counter()
    _, queues, _ = open_azure(account.connection_string, lambda *asked: counted.update([asked]))
    queues.create("work")
    queues.send("work", "a ticket")
    [message] = queues.receive("work")
    held = queues.update("work", message.id, message.receipt, visibility=timedelta(seconds=30))
    queues.delete("work", message.id, held)
    assert queues.receive("work") == []
    assert counted == {
        ("queue", "CreateQueue"): 1, ("queue", "PutMessage"): 1, ("queue", "GetMessages"): 2,
        ("queue", "UpdateMessage"): 1, ("queue", "DeleteMessage"): 1,
    }  # fmt: skip


def test_an_entitys_life_request_by_request(account: Account) -> None:
    counted: Counter[tuple[str, str]] = Counter()
    _, _, tables = open_azure(account.connection_string, lambda *asked: counted.update([asked]))
    tables.create_table("videos")
    tables.insert("videos", "p", "r", {"n": 1})
    tables.get("videos", "p", "r")
    tables.query("videos", "p")
    tables.batch("videos", "p", [Change(kind="insert", row=row, properties={}) for row in "ab"])
    tables.delete("videos", "p", "r")
    assert counted == {
        ("table", "CreateTable"): 1, ("table", "InsertEntity"): 1, ("table", "GetEntity"): 1,
        ("table", "QueryEntities"): 1, ("table", "Batch"): 2,
    }  # fmt: skip
    assert {class_of(*asked) for asked in counted} == {"table"}


def test_a_try_that_met_a_busy_service_counts_under_a_name_of_its_own() -> None:
    counted: Counter[tuple[str, str]] = Counter()
    observe = counting(lambda *asked: counted.update([asked]))
    for status in (503, 0, 201):
        observe("blob", "PUT", "account.blob/media/a?comp=block", status)
    assert counted == {("blob", "PutBlock busy"): 2, ("blob", "PutBlock"): 1}
