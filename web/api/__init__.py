"""The JSON API, version 1."""

from flask import Blueprint

from web.api import description, search, uploads, videos
from web.identity import check_same_site

api = Blueprint("api", __name__)
api.before_request(check_same_site)
for story in (uploads, videos, search, description):
    api.register_blueprint(story.blueprint)
