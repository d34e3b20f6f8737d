"""Where a video plays: its page, the page others embed, and the machine-readable description they ask for."""

from flask import Blueprint, render_template, url_for

from web.access import find, may_change, owns
from web.cards import listed, view
from web.identity import asking
from web.site import services

_RELATED = 12

blueprint = Blueprint("watch", __name__)


@blueprint.get("/watch/<video_id>")
def page(video_id: str) -> str:
    video = find(video_id)
    related = services().finder.related(video.id, limit=_RELATED)
    return render_template(
        "watch.html",
        video=view(video),
        mine=may_change(video, asking()),
        own=owns(video, asking()),
        related=listed(related.hits),
        embed_url=url_for("watch.embed", video_id=video.id, _external=True),
        page_url=url_for("watch.page", video_id=video.id, _external=True),
    )


@blueprint.get("/embed/<video_id>")
def embed(video_id: str) -> str:
    return render_template("embed.html", video=view(find(video_id)))
