"""A whole life on record, for the tests that cut it short."""

import logging
from pathlib import Path

import pytest
import structlog

from tests.azurite.running import Account
from tests.faults.recording import Recording, record


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> list[Recording]:
    return record(tmp_path_factory.mktemp("life"))


@pytest.fixture(params=["azure", "local"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Empty, on each backend."""
    if request.param == "local":
        return f"local:{tmp_path / 'data'}"
    account: Account = request.getfixturevalue("account")
    return account.connection_string


@pytest.fixture(autouse=True, scope="session")
def _quiet_logs() -> None:
    """Hundreds of lives are told of only by how they end."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
