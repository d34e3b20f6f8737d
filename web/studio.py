"""My videos: their state, their details, another try, their end."""

from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from shared import decisions
from shared.errors import Invalid
from shared.videos import Video
from web import edits
from web.access import find_to_change
from web.cards import view
from web.identity import needed_on_page
from web.site import services, traceparent

_PAGE = 50
_FIELDS = ("title", "description", "tags", "actors", "directors", "language", "privacy")

blueprint = Blueprint("studio", __name__, url_prefix="/studio")


@blueprint.get("")
def page() -> str:
    person = needed_on_page("creator")
    videos, marker = services().catalog.channel(person.id, limit=_PAGE, marker=request.args.get("after"))
    return render_template(
        "studio.html",
        rows=[view(video) for video in videos],
        older=url_for("studio.page", after=marker) if marker else None,
    )


@blueprint.route("/<video_id>", methods=["GET", "POST"])
def edit(video_id: str) -> str | Response:
    needed_on_page()
    video = find_to_change(video_id)
    form, errors = _as_form(video), {}
    if request.method == "POST":
        form = {field: request.form.get(field, "") for field in _FIELDS}
        try:
            edits.edit(video, edits.Details(**form))
        except Invalid as error:
            errors = _by_field(str(error))
        else:
            return redirect(url_for("studio.edit", video_id=video.id, saved=1))
    return render_template(
        "edit.html",
        video=view(video),
        form=form,
        errors=errors,
        saved="saved" in request.args and not errors,
        events=services().catalog.events(video.id),
    )


@blueprint.post("/<video_id>/delete")
def delete(video_id: str) -> Response:
    needed_on_page()
    decisions.delete(services(), find_to_change(video_id).id, traceparent=traceparent())
    return redirect(url_for("studio.page"))


@blueprint.post("/<video_id>/retry")
def retry(video_id: str) -> Response:
    needed_on_page()
    video = decisions.retry(services(), find_to_change(video_id).id, traceparent=traceparent())
    return redirect(url_for("studio.edit", video_id=video.id))


def _as_form(video: Video) -> dict[str, Any]:
    lists = {field: ", ".join(getattr(video, field)) for field in ("tags", "actors", "directors")}
    plain = {field: getattr(video, field) or "" for field in ("title", "description", "language", "privacy")}
    return {**plain, **lists}


def _by_field(sentence: str) -> dict[str, str]:
    field, _, rest = sentence.partition(": ")
    if field in _FIELDS:
        return {field: rest[:1].upper() + rest[1:] + "."}
    return {"title": sentence[:1].upper() + sentence[1:] + "."}
