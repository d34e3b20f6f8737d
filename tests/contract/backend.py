"""What the contract suite needs of a backend: its three stores, a way to let time pass, and how it differs."""

from collections.abc import Callable
from dataclasses import dataclass

from shared.blobs import Blobs
from shared.queues import Queues
from shared.tables import Tables

Fetch = Callable[[str, str, bytes | None], tuple[int, bytes]]


@dataclass(frozen=True, kw_only=True)
class Backend:
    """`wait(seconds)` lets so much of the store's time pass; `fetch(method, url, body)` makes an HTTP request for a URL
    the store signed, and returns the status and the body.

    Differences are declared here, and tests assert the declared behaviour either way.
    """

    blobs: Blobs
    queues: Queues
    tables: Tables
    wait: Callable[[float], None]
    fetch: Fetch
    collects_by_itself: bool
    """Frees unreachable bytes unasked, so that `collect_garbage` has nothing to do."""
    waits_for_days: bool
    """Its clock can be moved, so that tests of what lasts a week need not sleep."""
    folds_at_one_character: bool = False
    """Of a longer delimiter it sees only the first."""
    put_keeps_staged_blocks: bool = False
    discards_beside_whole: bool = True
    """Drops staged blocks also where the content was put whole, and is not made of blocks."""
    delete_drops_staged_only: bool = False
    """Deletes a name that has nothing but staged blocks, which is not there for others."""
    frees_container_names_at_once: bool = False
    tells_first_block_time: bool = False
    """Where nothing is committed: the time of the first staged block instead of the last."""
    counts_visible: bool = True
    """Tells how many messages could be received however many there are."""
    entities_weigh_as_json: bool = False
    """Counts an entity's size as it travels, bytes in base64, so that 1 MiB of them does not fit."""
