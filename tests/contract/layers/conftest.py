"""What stands over the queues, on each backend; every test has an empty one, for its queues are all called "work"."""

from collections.abc import Iterator

import pytest

from tests.contract.backend import Backend
from tests.contract.conftest import BACKENDS


@pytest.fixture(params=sorted(BACKENDS))
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    with BACKENDS[request.param](request) as opened:
        yield opened
