"""Set-up where something is missing: a sentence that says what, and what to do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from infra.prepare import debian
from infra.prepare.environment import package_at_fault
from infra.prepare.places import CannotPrepare
from tests.azurite import running
from tests.infra.running import ROOT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy without an environment, in a folder with a space in its name."""
    copy = tmp_path / "a copy"
    shutil.copytree(ROOT / "infra", copy / "infra", ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def a_path(folder: Path, *programs: str) -> str:
    """A PATH with these programs alone."""
    folder.mkdir()
    for program in programs:
        found = shutil.which(program)
        assert found
        (folder / program).symlink_to(found)
    return str(folder)


def run(checkout: Path, command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(checkout / "infra" / command)], cwd="/", env=environment, capture_output=True, text=True, timeout=110
    )


def test_without_a_python_it_says_what_to_install(checkout: Path, tmp_path: Path) -> None:
    path = a_path(tmp_path / "bin", "bash", "dirname", "readlink")
    refused = run(checkout, "up", PATH=path)
    assert refused.returncode == 1
    assert "Matinee needs Python 3.11 or newer" in refused.stderr
    assert "apt-get install python3" in refused.stderr


def test_without_a_package_index_it_names_the_package_and_the_way_out(checkout: Path, tmp_path: Path) -> None:
    refused = run(
        checkout, "up", PATH=os.environ["PATH"], HOME=str(tmp_path), MATINEE_PYTHON=sys.executable,
        PIP_CONFIG_FILE=os.devnull, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0",
    )  # fmt: skip
    assert refused.returncode == 1
    assert "pip could not install argon2-cffi from infra/requirements.lock. Check the network" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_the_package_pip_stumbled_over_is_the_last_it_named() -> None:
    said = "Collecting flask==3.1.3\nCollecting future==1.0.0\nERROR: No matching distribution found for future==1.0.0"
    assert package_at_fault(said) == "future"


def test_what_is_done_already_is_not_done_again(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "infra.prepare", "site", "sample"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    again = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert again.stderr == ""


def test_without_chromium_and_the_right_to_install_it_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(CannotPrepare, match=r"no program called chromium is on PATH.*sudo apt-get install chromium"):
        debian.install("chromium", "chromium")


def test_a_missing_azurite_fails_a_test_it_is_never_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(running, "PROGRAM", tmp_path / "nothing.js")
    with pytest.raises(RuntimeError, match="Azurite is not installed"), running.azurite(tmp_path):
        pass
