"""sweep, settings and doctor: keeping a site in order, and seeing what it runs on."""

import argparse
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from infra import data_folder
from infra.commands import table
from infra.commands.site import Site
from shared.errors import Invalid, MatineeError
from shared.settings import PREFIX, Settings
from shared.videos import MEDIA
from workers.media import ffmpeg
from workers.sweep import sweep


def add(subjects: Any) -> None:
    swept = subjects.add_parser("sweep", help="send on what stopped moving, remove what nobody refers to, now")
    swept.add_argument("--dry-run", action="store_true", help="only say what would be done")
    swept.set_defaults(run=_sweep)
    settings = subjects.add_parser("settings", help="every setting, what it is and where that comes from")
    settings.add_argument("--markdown", action="store_true", help="as the README's table: names, defaults, meanings")
    settings.set_defaults(run=_settings, make=True)
    subjects.add_parser("doctor", help="whether this machine has what a site needs").set_defaults(
        run=_doctor, make=True
    )


def _sweep(site: Site, options: argparse.Namespace) -> None:
    found = sweep(site.services, dry_run=options.dry_run)
    rows = ((finding.about, finding.what) for finding in found)
    table.show(["about", "would do" if options.dry_run else "done"], rows, none="Nothing to sweep.")


def _settings(site: Site, options: argparse.Namespace) -> None:
    if options.markdown:
        print(markdown())
        return
    rows = []
    for setting in fields(Settings):
        variable = f"{PREFIX}{setting.name.upper()}"
        rows.append((variable, _shown(site.settings, setting.name), _source(site, variable)))
    table.show(["setting", "value", "from"], rows, none="")


def _shown(settings: Settings, name: str) -> str:
    if name == "storage":
        return settings.storage_name
    if name == "wake" and "@" in settings.wake:
        return f"{settings.wake.partition(':')[0]}://(secret)@{settings.wake.rpartition('@')[2]}"
    if name == "secret_key":
        return "(secret)"
    value = str(getattr(settings, name))
    return value or "-"


def _source(site: Site, variable: str) -> str:
    if variable in os.environ and (variable != f"{PREFIX}STORAGE" or data_folder.is_elsewhere(os.environ)):
        return "environment"
    return "data folder" if variable in site.folder.environment({}) else "default"


def markdown() -> str:
    """The settings table of the README."""
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for setting in fields(Settings):
        default = f"`{setting.default}`" if setting.default != "" else ""
        lines.append(f"| `{PREFIX}{setting.name.upper()}` | {default} | {setting.metadata['help']} |")
    return "\n".join(lines)


def _doctor(site: Site, _: argparse.Namespace) -> None:
    checks: list[tuple[str, Callable[[], str]]] = [
        ("settings", lambda: f"read; storage is {site.settings.storage_name}"),
        ("storage", lambda: _storage(site)),
        ("free space", lambda: _free(site)),
        ("ffmpeg", lambda: _version(ffmpeg.ffmpeg_path(site.settings))),
        ("ffprobe", lambda: _version(ffmpeg.ffprobe_path(site.settings))),
    ]
    wrong = [name for name, check in checks if not _passes(name, check)]
    if wrong:
        raise Invalid(f"not in order: {', '.join(wrong)}")


def _passes(name: str, check: Callable[[], str]) -> bool:
    try:
        print(f"ok     {name:12}{check()}")
    except (MatineeError, OSError) as error:
        print(f"WRONG  {name:12}{error}")
        return False
    return True


def _version(program: str) -> str:
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    if said.returncode != 0:
        raise Invalid(f"{program} does not run: {said.stderr.strip()[-200:]}")
    return f"{said.stdout.split(' Copyright')[0]} ({program})"


def _storage(site: Site) -> str:
    blobs, name = site.services.blobs, f"doctor-{os.getpid()}"
    blobs.put(MEDIA, name, b"can this be written?")
    blobs.delete(MEDIA, name)
    return f"{site.settings.storage_name} can be written"


def _free(site: Site) -> str:
    free, least = shutil.disk_usage(site.folder.path).free, site.settings.min_free
    if free < least:
        raise Invalid(
            f"{table.size(free)} free, less than the {table.size(least)} kept in reserve: uploads are refused"
        )
    return f"{table.size(free)} free"
