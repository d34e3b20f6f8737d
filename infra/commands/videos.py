"""video: what there is, how it fares, and setting it going again."""

import argparse
from collections.abc import Mapping
from typing import Any

import msgspec

from infra.commands import table
from infra.commands.site import Site
from shared import decisions
from shared.notes import owner_notes
from shared.videos import Part, Plan, Video, fraction_done


def add(subjects: Any) -> None:
    words = subjects.add_parser("video", help="the videos").add_subparsers(required=True, metavar="COMMAND")
    listed = words.add_parser("list", help="all videos, newest first")
    listed.add_argument("--state", help="only those in this state")
    listed.set_defaults(run=_list)
    for word, help_text, run in (
        ("show", "all that is known of one, its timeline too", _show),
        ("delete", "remove one, with its files", _delete),
        ("retry", "work on one again that failed, or lacks a part", _retry),
    ):
        command = words.add_parser(word, help=help_text)
        command.add_argument("id")
        command.set_defaults(run=run)


def _list(site: Site, options: argparse.Namespace) -> None:
    found = sorted(site.services.catalog.all(), key=lambda video: video.created, reverse=True)
    wanted = [video for video in found if options.state in (None, video.state)]
    rows = (
        (video.id, video.state, video.privacy, video.channel, table.moment(video.created), video.title)
        for video in wanted
    )
    table.show(["id", "state", "privacy", "channel", "created", "title"], rows, none="There are no videos.")


def _show(site: Site, options: argparse.Namespace) -> None:
    catalog = site.services.catalog
    video = catalog.get(options.id)
    for name, value in msgspec.to_builtins(video).items():
        if value not in (None, "", (), {}):
            print(f"{name:14}{', '.join(value) if isinstance(value, tuple) else value}")
    plan, parts = catalog.find_plan(video), catalog.parts(video.id, video.generation)
    print(f"{'progress':14}{_progress(site, video, plan, parts)}")
    for note in owner_notes(video, plan, parts):
        print(f"{'note':14}{note}")
    for event in catalog.events(video.id):
        print(f"  {table.moment(event.at)}  {event.what}  {event.detail}".rstrip())


def _progress(site: Site, video: Video, plan: Plan | None, parts: Mapping[str, Part]) -> str:
    if plan is None:
        return "no plan yet"
    done = fraction_done(plan, parts, site.services.catalog.progress(video.id, video.generation))
    return f"{done:.0%}, {len(parts)} of {len(plan.parts)} parts"


def _delete(site: Site, options: argparse.Namespace) -> None:
    video = decisions.delete(site.services, options.id)
    print(f"deleted {video.id}; its files go within moments")


def _retry(site: Site, options: argparse.Namespace) -> None:
    video = decisions.retry(site.services, options.id)
    print(f"{video.id} is on its way again")
