"""All videos of one person."""

from flask import Blueprint, render_template, request, url_for

from shared.errors import NotFound
from shared.people import Person
from shared.videos import PLAYS, Video
from web.access import is_listed
from web.cards import card
from web.identity import asking
from web.site import services

_PAGE = 24
_LOOKS = 20

blueprint = Blueprint("channel", __name__)


@blueprint.get("/channel/<name>")
def page(name: str) -> str:
    try:
        owner = services().people.by_name(name)
    except NotFound:
        raise NotFound(f"there is no channel {name}") from None
    videos, marker = _shown(owner, request.args.get("after"))
    return render_template(
        "channel.html",
        channel=owner.name,
        cards=[card(video) for video in videos],
        older=url_for("channel.page", name=owner.name, after=marker) if marker else None,
        mine=_is_mine(owner),
    )


def _shown(owner: Person, marker: str | None) -> tuple[list[Video], str | None]:
    """A page full of what this person may see here, though many videos in between may be private."""
    shown: list[Video] = []
    for _ in range(_LOOKS):
        videos, marker = services().catalog.channel(owner.id, limit=_PAGE - len(shown), marker=marker)
        shown += [video for video in videos if _is_shown(video, mine=_is_mine(owner))]
        if marker is None or len(shown) == _PAGE:
            break
    return shown, marker


def _is_shown(video: Video, *, mine: bool) -> bool:
    """What does not play yet is for its owner to see coming; what is still being uploaded, in the studio alone."""
    return is_listed(video, asking()) and (video.state in PLAYS or (mine and video.state != "uploading"))


def _is_mine(owner: Person) -> bool:
    person = asking()
    return person is not None and person.id == owner.id
