"""Short ways to make what a test needs."""

import base64
import hashlib
import secrets
from collections.abc import Callable

from shared.blobs import Blob, Blobs
from shared.errors import Busy, Conflict
from tests.contract.backend import Backend


def fresh(kind: str) -> str:
    """A name nobody has used."""
    return f"{kind}{secrets.token_hex(6)}"


def block_id(number: int) -> str:
    return base64.b64encode(f"{number:08}".encode()).decode()


def md5(data: bytes) -> bytes:
    return hashlib.md5(data).digest()


def a_blob_of_blocks(blobs: Blobs, container: str, name: str, *parts: bytes) -> Blob:
    """Each part is a block, numbered from 0."""
    for number, part in enumerate(parts):
        blobs.stage_block(container, name, block_id(number), part)
    return blobs.commit_block_list(container, name, [block_id(number) for number in range(len(parts))])


def when_gone(backend: Backend, create: Callable[[], None]) -> None:
    """Make anew what was just deleted: a store may need up to 30 s until the name is free, and says so meanwhile."""
    for _ in range(40):
        try:
            return create()
        except (Busy, Conflict):
            backend.wait(1)
    raise AssertionError("its name never became free")
