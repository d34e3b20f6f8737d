"""Search for programs."""

from flask import Blueprint, Response, request

from shared.errors import Invalid
from web.api.answers import Found, answer, found_video
from web.cards import found
from web.identity import asking
from web.paging import number, page_number
from web.site import services

_USUAL, _MOST = 24, 100

blueprint = Blueprint("search", __name__, url_prefix="/search")


@blueprint.get("")
def search() -> Response:
    """Videos by title, description, tags, actors, directors and channel."""
    person = asking()
    results = services().finder.search(
        request.args.get("q", ""),
        viewer=person.id if person else None,
        page=page_number(request.args.get("page")),
        limit=_limit(request.args.get("limit")),
    )
    videos = tuple(found_video(video, hit) for video, hit in found(results.hits))
    return answer(Found(total=results.total, videos=videos))


def _limit(text: str | None) -> int:
    limit = number(text, _MOST) if text else _USUAL
    if limit is None:
        raise Invalid(f"limit: 1 to {_MOST}")
    return limit
