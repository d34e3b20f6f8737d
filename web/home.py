"""The front page: what is new."""

from flask import Blueprint, render_template, request, url_for

from web.cards import listed
from web.paging import page_number
from web.site import services

PAGE = 24
_CHIPS = 12

blueprint = Blueprint("home", __name__)


@blueprint.get("/")
def page() -> str:
    number = page_number(request.args.get("page"))
    finder = services().finder
    found = finder.newest(page=number, limit=PAGE)
    more = found.total > number * PAGE
    return render_template(
        "home.html",
        cards=listed(found.hits),
        older=url_for("home.page", page=number + 1) if more else None,
        query_chips=finder.common_tags(_CHIPS) if number == 1 else [],
    )
