"""What tests ask for to work on an account: one Azurite for a run, an empty account for each test."""

from collections.abc import Iterator

import pytest

from tests.azurite.running import Account, Azurite, azurite


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azurite]:
    with azurite(tmp_path_factory.mktemp("azurite")) as running:
        yield running


@pytest.fixture
def account(emulator: Azurite) -> Account:
    return emulator.account()
