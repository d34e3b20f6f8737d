"""The Python environment in .venv, filled from the lock files with nothing but Python's own venv and pip."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from infra.prepare.places import PYTHON, ROOT, SHARE, VENV, CannotPrepare, fingerprint, is_stamped, say, tail

LOCKS = {
    "site": ROOT / "infra" / "requirements.lock",
    "dev": ROOT / "infra" / "requirements-dev.lock",
    "node": ROOT / "infra" / "requirements-node.lock",
}


def is_installed(name: str) -> bool:
    return PYTHON.exists() and is_stamped(SHARE / f"{name}.stamp", _wanted(name))


def install(name: str) -> None:
    """Bring .venv to what the lock file called `name` says. Raises CannotPrepare."""
    if not _works():
        _make()
    say(f"Installing the Python packages of {LOCKS[name].relative_to(ROOT)} (once; about half a minute) ...")
    _pip_install(LOCKS[name])
    SHARE.mkdir(parents=True, exist_ok=True)
    (SHARE / f"{name}.stamp").write_text(_wanted(name))


def pip(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    # A user-wide PIP_USER=1 would send packages past the environment.
    return subprocess.run(command, env={**os.environ, "PIP_USER": "0"}, capture_output=True, text=True, check=False)


def _wanted(name: str) -> str:
    return fingerprint([LOCKS[name]], str(VENV))


def _works() -> bool:
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    return PYTHON.exists() and _run([str(PYTHON), "-c", check]).returncode == 0


def _make() -> None:
    say(f"Making a Python environment in {VENV} ...")
    made = _run([sys.executable, "-m", "venv", "--clear", str(VENV)])
    if made.returncode == 0:
        return
    if shutil.which("uv"):
        made = _run(["uv", "venv", "--seed", "--clear", "--python", sys.executable, str(VENV)])
    if made.returncode != 0:
        raise CannotPrepare(
            f"{sys.executable} cannot make a virtual environment. On Debian and Ubuntu install python3-venv; "
            f"or install uv. It said:\n{tail(made.stdout + made.stderr)}"
        )


def _pip_install(lock: Path) -> None:
    arguments = ("install", "--require-hashes", "--requirement", str(lock))
    if pip("--version").returncode != 0:
        _run([str(PYTHON), "-m", "ensurepip"])
    done = pip(*arguments)
    if done.returncode != 0:
        output = done.stdout + done.stderr
        raise CannotPrepare(
            f"pip could not install {package_at_fault(output)} from {lock.relative_to(ROOT)}. Check the network, and "
            f"that pip's settings name a package index it can reach; then start again. It said:\n{tail(output)}"
        )


def package_at_fault(output: str) -> str:
    """The package pip's output blames, as well as can be told."""
    named = re.findall(r"(?:requirement|distribution found for|Collecting|wheel for) ([A-Za-z0-9._-]+)", output)
    return named[-1] if named else "the packages"


def _run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False)
