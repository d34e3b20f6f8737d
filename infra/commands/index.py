"""index: the search index, made anew from the catalog."""

import argparse
from typing import Any

import msgspec

from infra.commands.site import Site
from shared.tickets import Index
from shared.videos import Video


def add(subjects: Any) -> None:
    words = subjects.add_parser("index", help="the search index").add_subparsers(required=True, metavar="COMMAND")
    rebuild = words.add_parser("rebuild", help="enter every video again from the catalog; search goes on meanwhile")
    rebuild.add_argument(
        "--clear", action="store_true", help="empty it first, if it is damaged: nothing is found until done"
    )
    rebuild.set_defaults(run=_rebuild)


def _rebuild(site: Site, options: argparse.Namespace) -> None:
    """Clearing comes first, so that nothing a worker enters in the meantime is lost."""
    services = site.services
    if options.clear:
        services.index_writer.clear()
    videos = [video for video in services.catalog.all() if video.indexed]
    for video in videos:
        services.catalog.mark_active(video.id)
        services.catalog.change(video.id, _forgotten)
        services.tickets.send(Index(video=video.id, generation=video.generation, made=services.clock.now()))
    print(f"{len(videos)} videos are on their way into the index")


def _forgotten(video: Video) -> Video:
    return msgspec.structs.replace(video, indexed=0)
