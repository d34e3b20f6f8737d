"""The search page."""

from flask import Blueprint, render_template, request, url_for

from web.cards import listed
from web.identity import asking
from web.paging import page_number
from web.site import services

_PAGE = 24

blueprint = Blueprint("search", __name__)


@blueprint.get("/search")
def page() -> str:
    query = request.args.get("q", "").strip()
    number = page_number(request.args.get("page"))
    person = asking()
    found = services().finder.search(query, viewer=person.id if person else None, page=number, limit=_PAGE)
    more = found.total > number * _PAGE
    return render_template(
        "search.html",
        query=query,
        total=found.total,
        hits=listed(found.hits),
        older=url_for("search.page", q=query, page=number + 1) if more else None,
    )
