"""Programs the tests drive that come from Debian: installed where this account may, else said what to install."""

import os
import shutil
import subprocess

from infra.prepare.places import CannotPrepare, say, tail


def is_found(program: str) -> bool:
    return shutil.which(program) is not None


def install(program: str, package: str) -> None:
    """Raises CannotPrepare."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise CannotPrepare(
            f"The tests drive a real {package}, and no program called {program} is on PATH. "
            f"Install it (Debian: sudo apt-get install {package}), then start again."
        )
    say(f"Installing {package} with apt-get (once) ...")
    _apt("update")
    _apt("install", "--yes", "--no-install-recommends", package)


def _apt(*arguments: str) -> None:
    # In run level 1 no service is started by its installation: it is the program that is wanted.
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    done = subprocess.run(["apt-get", *arguments], env=quiet, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotPrepare(f"'apt-get {' '.join(arguments)}' failed:\n{tail(done.stdout + done.stderr)}")
