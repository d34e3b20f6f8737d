"""All videos of one person."""

from flask import Blueprint, render_template, request, url_for

from shared.errors import NotFound
from web.access import is_listed
from web.cards import card
from web.identity import asking
from web.site import services

_PAGE = 24

blueprint = Blueprint("channel", __name__)


@blueprint.get("/channel/<name>")
def page(name: str) -> str:
    try:
        owner = services().people.by_name(name)
    except NotFound:
        raise NotFound(f"there is no channel {name}") from None
    person = asking()
    videos, marker = services().catalog.channel(owner.id, limit=_PAGE, marker=request.args.get("after"))
    cards = [card(video) for video in videos if is_listed(video, person) and video.state != "uploading"]
    mine = person is not None and person.id == owner.id
    return render_template(
        "channel.html",
        channel=owner.name,
        cards=cards if mine else [found for found in cards if found.state in ("playable", "published")],
        older=url_for("channel.page", name=owner.name, after=marker) if marker else None,
        mine=mine,
    )
