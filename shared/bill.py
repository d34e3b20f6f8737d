"""What storage operations cost: an estimate, from what the meter counted and prices that are a setting."""

import re
from collections.abc import Mapping
from typing import Self

from shared.errors import Invalid

Counts = Mapping[tuple[str, str], int]
"""By store (blob, queue, table) and operation, as the meter names them."""

PER = 10_000
"""Operations a price is for, as price lists have it."""
CLASSES = ("blob-write", "blob-list", "blob-read", "queue", "table")

_FREE = {"DeleteBlob", "DeleteContainer", "delete", "delete_container", "collect_garbage"}
_LISTS = {
    "ListBlobs", "ListContainers", "CreateContainer",
    "list_blobs", "list_containers", "list_uncommitted", "create_container", "ensure_container",
}  # fmt: skip
_WRITES = re.compile("^(Put|Set|Lease|put|stage|commit|set_|discard|acquire|renew|release|break)")


class Prices:
    """US dollars for 10,000 operations of each class."""

    def __init__(self, prices: Mapping[str, float]) -> None:
        self._prices = prices

    @classmethod
    def read(cls, text: str) -> Self:
        """Of words like "queue=0.004". Raises Invalid for a class that is missing or unknown, or no price."""
        try:
            prices = {name: float(price) for name, price in (word.split("=") for word in text.split())}
        except ValueError:
            raise Invalid(f"prices must look like queue=0.004, with spaces between them, not {text!r}") from None
        if set(prices) != set(CLASSES) or min(prices.values()) < 0:
            raise Invalid(f"prices must name each of {', '.join(CLASSES)} once, and none below nothing")
        return cls(prices)

    def cost(self, counts: Counts) -> float:
        """US dollars."""
        return sum(self._prices.get(class_of(*asked), 0.0) * count for asked, count in counts.items()) / PER


def class_of(store: str, operation: str) -> str:
    """How it is billed (Azure's "Blob Storage pricing": a delete is free, listing costs as much as writing)."""
    if store != "blob":
        return store
    name = operation.removesuffix(" busy")
    if name in _FREE:
        return "free"
    if name in _LISTS:
        return "blob-list"
    return "blob-write" if _WRITES.match(name) else "blob-read"
