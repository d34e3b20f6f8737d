"""The browser's files: built from npm packages by web/frontend, again only when something there has changed."""

import os
import subprocess
from pathlib import Path

from infra.prepare.node import path_with_node
from infra.prepare.places import ROOT, CannotPrepare, fingerprint, is_stamped, say, tail

FRONTEND = ROOT / "web" / "frontend"
BUILT = ROOT / "web" / "static" / "build"
STAMP = BUILT / ".built-from"


def is_built() -> bool:
    return is_stamped(STAMP, _wanted())


def build() -> None:
    """Raises CannotPrepare."""
    path = path_with_node()
    say("Building the browser's files with npm (once) ...")
    built = subprocess.run(
        [str(FRONTEND / "build")], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    if built.returncode != 0:
        raise CannotPrepare(
            f"The browser's files could not be built in {FRONTEND}. If it is npm's registry that could not be reached, "
            f"check the network and npm's settings; then start again. It said:\n{tail(built.stdout + built.stderr, 15)}"
        )
    BUILT.mkdir(parents=True, exist_ok=True)
    STAMP.write_text(_wanted())


def _wanted() -> str:
    inside = (Path(folder) / name for folder, _, names in _walk() for name in names)
    return fingerprint(path for path in inside if path.is_file())


def _walk() -> "list[tuple[str, list[str], list[str]]]":
    found = []
    for folder, folders, names in os.walk(FRONTEND):
        folders[:] = [name for name in folders if name != "node_modules"]
        found.append((folder, folders, names))
    return found
