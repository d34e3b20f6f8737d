"""The upload page; the bytes themselves go through the API."""

from flask import Blueprint, render_template

from web.identity import needed_on_page
from web.site import services

PRIVACIES = ("public", "unlisted", "private")

blueprint = Blueprint("upload", __name__)


@blueprint.get("/upload")
def page() -> str:
    needed_on_page("creator")
    return render_template("upload.html", max_upload=services().settings.max_upload, privacies=PRIVACIES)
