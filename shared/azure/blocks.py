"""Block ids as they are: the SDK takes them for text and encodes them once more, ours may stand for any bytes."""

import base64
from collections.abc import Iterable
from enum import Enum
from typing import Any
from xml.etree import ElementTree

from azure.storage.blob import BlobBlock

from shared.blobs import Block, BlockList


class _Raw(str):
    """What the SDK makes of it when it "encodes" it as text is the bytes it stands for."""

    def __str__(self) -> str:
        return self

    def encode(self, *_: str) -> bytes:
        return base64.b64decode("".join(self))


def as_given(block_id: str) -> str:
    return _Raw(block_id)


class _Committed(Enum):
    """The SDK (12.31) compares with this word, and its own state, spelt "Committed", is sent as the latest."""

    STATE = "committed"


def latest(block_ids: Iterable[str]) -> list[BlobBlock]:
    """Each as it was staged last, or else as it is committed."""
    return [BlobBlock(block_id=as_given(block_id)) for block_id in block_ids]


def committed(block_ids: Iterable[str]) -> list[BlobBlock]:
    """Each as it is committed, whatever was staged since."""
    state: Any = _Committed.STATE
    return [BlobBlock(block_id=as_given(block_id), state=state) for block_id in block_ids]


def read_list(response: Any) -> BlockList:
    """From the service's own answer, in which ids are as they were given."""
    root = ElementTree.fromstring(response.http_response.body())
    return BlockList(committed=_blocks(root, "CommittedBlocks"), staged=_blocks(root, "UncommittedBlocks"))


def _blocks(root: ElementTree.Element, kind: str) -> tuple[Block, ...]:
    return tuple(
        Block(id=block.findtext("Name") or "", size=int(block.findtext("Size") or 0))
        for block in root.iterfind(f"{kind}/Block")
    )
