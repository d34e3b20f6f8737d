"""The estimated bill: each operation in its class, each class at its price."""

import inspect

import pytest

from shared.bill import CLASSES, Prices, class_of
from shared.blobs import Blobs
from shared.errors import Invalid
from shared.settings import Settings

ONE_EACH = "blob-write=5 blob-list=4 blob-read=3 queue=2 table=1"


@pytest.mark.parametrize(
    ("store", "operation", "known_as"),
    [
        ("blob", "PutBlock", "blob-write"),
        ("blob", "PutBlock busy", "blob-write"),
        ("blob", "LeaseBlob", "blob-write"),
        ("blob", "stage_block", "blob-write"),
        ("blob", "ListBlobs", "blob-list"),
        ("blob", "list_uncommitted", "blob-list"),
        ("blob", "GetBlob", "blob-read"),
        ("blob", "stat", "blob-read"),
        ("blob", "DeleteBlob", "free"),
        ("blob", "delete", "free"),
        ("queue", "GetMessages", "queue"),
        ("queue", "DeleteMessage", "queue"),
        ("table", "Batch", "table"),
    ],
)
def test_operations_are_billed_by_what_they_do(store: str, operation: str, known_as: str) -> None:
    assert class_of(store, operation) == known_as


def test_every_operation_of_the_contract_has_a_class() -> None:
    for name, _ in inspect.getmembers(Blobs, inspect.isfunction):
        if not name.startswith("_"):
            assert class_of("blob", name) in {*CLASSES, "free"}


def test_a_bill_is_the_sum_of_its_classes() -> None:
    counts = {("blob", "PutBlob"): 10_000, ("blob", "GetBlob"): 20_000, ("queue", "GetMessages"): 5_000}
    assert Prices.read(ONE_EACH).cost(counts) == pytest.approx(5 + 2 * 3 + 0.5 * 2)
    assert Prices.read(ONE_EACH).cost({("blob", "DeleteBlob"): 10**9}) == 0


@pytest.mark.parametrize("text", ["", "queue=1", ONE_EACH + " disk=1", ONE_EACH.replace("=5", "=five"), "queue",
                                  ONE_EACH.replace("=5", "=-5")])  # fmt: skip
def test_prices_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(Invalid):
        Prices.read(text)
    with pytest.raises(Invalid):
        Settings(prices=text)


def test_the_usual_prices_can_be_read() -> None:
    assert Prices.read(Settings().prices).cost({("queue", "GetMessages"): 10_000}) > 0
