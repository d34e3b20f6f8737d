"""Azure Storage's emulator, which the tests of the Azure backend talk to: an npm package held by a lock file."""

import os
import subprocess

from infra.prepare.node import path_with_node
from infra.prepare.places import ROOT, CannotPrepare, fingerprint, is_stamped, say, tail

FOLDER = ROOT / "tests" / "azurite"
STAMP = FOLDER / "node_modules" / ".installed-from"


def is_installed() -> bool:
    return is_stamped(STAMP, _wanted())


def install() -> None:
    """Raises CannotPrepare."""
    environment = {**os.environ, "PATH": path_with_node()}
    say("Installing Azurite with npm, for the tests (once; about half a minute) ...")
    done = subprocess.run(
        ["npm", "ci", "--omit=dev"], cwd=FOLDER, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise CannotPrepare(
            f"Azurite could not be installed in {FOLDER}. If it is npm's registry that could not be reached, check the "
            f"network and npm's settings; then start again. It said:\n{tail(done.stdout + done.stderr, 15)}"
        )
    STAMP.write_text(_wanted())


def _wanted() -> str:
    return fingerprint([FOLDER / "package.json", FOLDER / "package-lock.json"])
