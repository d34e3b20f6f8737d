"""The Azure backend under test: a real Azurite, real time, real HTTP for the links it signs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from shared.azure.account import open_account
from shared.azure.blobs import AzureBlobs
from shared.azure.queues import AzureQueues
from shared.azure.tables import AzureTables
from tests.azurite.running import Azurite
from tests.contract.backend import Backend


@contextmanager
def azure_backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    emulator: Azurite = request.getfixturevalue("emulator")
    account = open_account(emulator.account().connection_string)
    yield Backend(
        blobs=AzureBlobs(account),
        queues=AzureQueues(account.queues),
        tables=AzureTables(account.tables),
        wait=time.sleep,
        fetch=_fetch,
        collects_by_itself=True,
        waits_for_days=False,
        folds_at_one_character=True,
        put_keeps_staged_blocks=True,
        discards_beside_whole=False,
        delete_drops_staged_only=True,
        frees_container_names_at_once=True,
        tells_first_block_time=True,
        counts_visible=False,
        entities_weigh_as_json=True,
    )


def _fetch(method: str, url: str, body: bytes | None) -> tuple[int, bytes]:
    # What a browser sends with a PUT of a whole blob; other requests do not mind it.
    request = Request(url, data=body, method=method, headers={"x-ms-blob-type": "BlockBlob"} if body else {})
    try:
        with urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()
