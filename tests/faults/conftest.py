"""A whole life on record, for the tests that cut it short."""

import logging

import pytest
import structlog

from tests.faults.recording import Recording, record


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> list[Recording]:
    return record(tmp_path_factory.mktemp("life"))


@pytest.fixture(autouse=True, scope="session")
def _quiet_logs() -> None:
    """Hundreds of lives are told of only by how they end."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
