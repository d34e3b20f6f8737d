"""Settings: documented, read from the environment in one place, refused by the variable's name."""

from dataclasses import fields
from pathlib import Path

import pytest

from shared.errors import Invalid
from shared.settings import PREFIX, Settings


def test_every_setting_is_documented_and_has_a_default() -> None:
    for setting in fields(Settings):
        assert setting.metadata["help"], setting.name
    Settings()


def test_an_empty_environment_gives_the_defaults() -> None:
    assert Settings.from_environment({}) == Settings()


def test_each_setting_is_its_variable() -> None:
    given = {
        "MATINEE_STORAGE": "local:/srv/films",
        "MATINEE_SIGN_UP": "no",
        "MATINEE_MAX_TRIES": "7",
        "MATINEE_LEASE": "12.5",
        "PATH": "/usr/bin",
    }
    settings = Settings.from_environment(given)
    assert (settings.storage, settings.sign_up, settings.max_tries, settings.lease) == ("local:/srv/films", False, 7, 12.5)


@pytest.mark.parametrize(("text", "meant"), [("1", True), ("True", True), ("yes", True), ("off", False), ("0", False)])
def test_yes_and_no_have_many_words(text: str, meant: bool) -> None:
    assert Settings.from_environment({"MATINEE_SIGN_UP": text}).sign_up is meant


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MATINEE_SIGN_UP", "perhaps"),
        ("MATINEE_MAX_TRIES", "five"),
        ("MATINEE_MAX_TRIES", "0"),
        ("MATINEE_LEASE", "soon"),
        ("MATINEE_LEASE", "0.5"),
        ("MATINEE_LOG_LEVEL", "loud"),
        ("MATINEE_BLOCK_SIZE", "1"),
        ("MATINEE_IDLE_MAX", "0.001"),
        ("MATINEE_QUEUE_PARTITIONS", "0"),
        *((f"MATINEE_{name}", value) for name in ("LEASE", "GRACE", "SWEEP_EVERY") for value in ("nan", "inf")),
    ],
)
def test_a_bad_value_is_refused_by_its_variables_name(variable: str, value: str) -> None:
    with pytest.raises(Invalid, match=variable):
        Settings.from_environment({variable: value})


@pytest.mark.parametrize(("storage", "path"), [("local:/srv/films", "/srv/films"), ("local:///srv/films", "/srv/films")])
def test_the_embedded_storage_names_a_folder(storage: str, path: str) -> None:
    assert Settings(storage=storage).local_path() == Path(path)


@pytest.mark.parametrize("storage", ["", "local:", "films", "azure://account"])
def test_another_storage_has_no_folder(storage: str) -> None:
    with pytest.raises(Invalid, match=PREFIX + "STORAGE"):
        Settings(storage=storage).local_path()
