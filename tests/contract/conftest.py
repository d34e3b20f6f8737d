"""One suite for every backend: another backend is one more entry in BACKENDS."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from shared.blobs import Blobs
from shared.queues import Queues
from shared.tables import Tables
from tests.contract.azure import azure_backend
from tests.contract.backend import Backend
from tests.contract.local import local_backend
from tests.contract.making import fresh

BACKENDS = {"azure": azure_backend, "local": local_backend}

# Examples share a store and keep apart by fresh names; a busy machine is no reason to fail.
settings.register_profile(
    "contract", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("contract")


@pytest.fixture(scope="module", params=sorted(BACKENDS))
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    with BACKENDS[request.param](request) as opened:
        yield opened


@pytest.fixture
def blobs(backend: Backend) -> Blobs:
    return backend.blobs


@pytest.fixture
def queues(backend: Backend) -> Queues:
    return backend.queues


@pytest.fixture
def tables(backend: Backend) -> Tables:
    return backend.tables


@pytest.fixture
def container(blobs: Blobs) -> str:
    name = fresh("c")
    blobs.create_container(name)
    return name


@pytest.fixture
def queue(queues: Queues) -> str:
    name = fresh("q")
    queues.create(name)
    return name


@pytest.fixture
def table(tables: Tables) -> str:
    name = fresh("t")
    tables.create_table(name)
    return name
