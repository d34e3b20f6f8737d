"""My account: the tokens my programs use."""

from datetime import timedelta

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from web.identity import needed_on_page
from web.site import services

LIVES = {"30": timedelta(days=30), "90": timedelta(days=90), "365": timedelta(days=365)}
"""How long a new token may be good for; any other choice: until it is revoked."""

blueprint = Blueprint("account", __name__, url_prefix="/account")


@blueprint.get("")
def page() -> str:
    return _page(None)


@blueprint.post("/tokens")
def create_token() -> str:
    """The answer shows the new token, this once; it is not kept."""
    person = needed_on_page()
    life = LIVES.get(request.form.get("life", ""))
    return _page(services().people.create_token(person.id, request.form.get("label", ""), life=life))


@blueprint.post("/tokens/<token_id>/revoke")
def revoke_token(token_id: str) -> Response:
    person = needed_on_page()
    services().people.revoke_token(person.id, token_id)
    return redirect(url_for("account.page"))


def _page(new_token: str | None) -> str:
    person = needed_on_page()
    return render_template("account.html", tokens=services().people.tokens(person.id), new_token=new_token)
