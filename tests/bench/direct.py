"""Upload straight to an account, as the upload API tells clients to, against the Azure SDK's own upload of the file."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from azure.storage.blob import BlobServiceClient

from tests.azurite.running import azurite
from tests.bench.figure import Figure
from tests.bench.site import AT_ONCE, a_site
from tests.bench.upload import noise

GOAL = 0.9
_BLOCK = 8 * 1024**2


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    size, rounds = (64, 3) if quick else (256, 5)
    clip = noise(folder / "noise.bin", size)
    with azurite(folder) as emulator:
        account = emulator.account()
        sdk = BlobServiceClient.from_connection_string(
            account.connection_string, max_block_size=_BLOCK, max_single_put_size=_BLOCK
        )
        container = sdk.create_container("bench")
        names = iter(range(1000))

        def by_sdk() -> None:
            with clip.open("rb") as data:
                container.upload_blob(f"{next(names)}", data, max_concurrency=AT_ONCE)

        with a_site(folder / "data", MATINEE_STORAGE=account.connection_string) as (_, client):
            client.upload(noise(folder / "warm-up.bin", 16))
            by_sdk()
            pairs = [(_rate(size, lambda: client.upload(clip)), _rate(size, by_sdk)) for _ in range(rounds)]
    ours, theirs = (statistics.median(rates) for rates in zip(*pairs, strict=True))
    return [
        Figure(
            figure=f"direct upload, {AT_ONCE} blocks at a time, each with its MD5",
            value=round(ours, 1),
            unit="MB/s",
            against=f"upload_blob of azure-storage-blob, as many at a time, no checksums: {theirs:.1f} MB/s",
            goal=f"at least {GOAL:g} of it",
            met=ours >= GOAL * theirs,
        )
    ]


def _rate(size: int, work: Callable[[], object]) -> float:
    """MB/s, 1 MB = 10^6 bytes."""
    started = time.perf_counter()
    work()
    return size * 1.048576 / (time.perf_counter() - started)
