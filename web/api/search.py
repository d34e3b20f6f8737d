"""Search for programs."""

from typing import Any

from flask import Blueprint, request

from shared.errors import Invalid
from web.access import is_listed
from web.cards import as_json
from web.identity import asking
from web.paging import page_number
from web.site import services

_MOST = 100

blueprint = Blueprint("search", __name__, url_prefix="/search")


@blueprint.get("")
def search() -> dict[str, Any]:
    person = asking()
    limit = _limit(request.args.get("limit"))
    found = services().finder.search(
        request.args.get("q", ""),
        viewer=person.id if person else None,
        page=page_number(request.args.get("page")),
        limit=limit,
    )
    videos = []
    for hit in found.hits:
        video = services().catalog.get(hit.video)
        if is_listed(video, person):
            videos.append({**as_json(video), "title_html": hit.title_html, "snippet_html": hit.snippet_html})
    return {"total": found.total, "videos": videos}


def _limit(text: str | None) -> int:
    if not text:
        return 24
    if not text.isdigit() or not 1 <= int(text) <= _MOST:
        raise Invalid(f"limit: 1 to {_MOST}")
    return int(text)
