"""Subscriptions over each backend; every test has an empty one, for its tables and queues have fixed names."""

from collections.abc import Iterator

import pytest

from shared.clock import SystemClock
from shared.topics.subscriptions import Subscriptions
from tests.contract.backend import Backend
from tests.contract.conftest import BACKENDS


@pytest.fixture(params=sorted(BACKENDS))
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    with BACKENDS[request.param](request) as opened:
        yield opened


@pytest.fixture
def subscriptions(backend: Backend) -> Subscriptions:
    made = Subscriptions(backend.tables, backend.queues, SystemClock())
    made.ensure()
    return made
