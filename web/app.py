"""The site as one Flask application over the services it is handed."""

from flask import Flask, request
from flask_babel import Babel
from flask_wtf.csrf import CSRFProtect
from werkzeug.middleware.proxy_fix import ProxyFix

from shared.errors import Invalid
from shared.services import Services
from web import (
    account,
    accounts,
    blobs,
    channel,
    errors,
    health,
    home,
    media,
    search,
    studio,
    texts,
    tracing,
    upload,
    watch,
)
from web.addresses import Whole
from web.api import api
from web.fence import set_headers
from web.identity import shown
from web.site import EXTENSION

_FORM_BYTES = 1024 * 1024
_TWO_WEEKS = 14 * 86400


def create_app(services: Services) -> Flask:
    """Raises Invalid if the settings lack the key that signs sessions."""
    app = Flask(__name__)
    settings = services.settings
    app.config.update(
        SECRET_KEY=errors.needed_key(settings.secret_key),
        MAX_CONTENT_LENGTH=_FORM_BYTES,
        MAX_FORM_MEMORY_SIZE=_FORM_BYTES,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SECURE=settings.secure_cookies,
        PERMANENT_SESSION_LIFETIME=_TWO_WEEKS,
        SEND_FILE_MAX_AGE_DEFAULT=300,
        WTF_CSRF_TIME_LIMIT=None,
        WTF_CSRF_CHECK_DEFAULT=False,
    )
    app.extensions[EXTENSION] = services
    if settings.trusted_proxies:
        hops = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]
    app.url_map.converters["whole"] = Whole
    Babel(app)
    _protect_forms(app)
    accounts.install(app, services)
    for story in (home, watch, channel, search, upload, studio, account, media, blobs, health):
        app.register_blueprint(story.blueprint)
    app.register_blueprint(api, url_prefix="/api/v1")
    tracing.install(app, services.tracing)
    errors.install(app)
    texts.install(app)
    app.after_request(set_headers)
    app.context_processor(
        lambda: {"site_name": settings.site_name, "person": shown(), "sign_up_open": settings.sign_up}
    )
    return app


def _protect_forms(app: Flask) -> None:
    """Forms carry a token of ours; the API is called by programs, and checks where a browser's call comes from."""
    csrf = CSRFProtect(app)

    @app.before_request
    def check_form() -> None:
        if request.is_json and request.blueprint == "security":
            raise Invalid("this address takes a form, not JSON; programs send a personal token to /api/v1")
        leads_somewhere = request.url_rule is not None
        if app.config["WTF_CSRF_ENABLED"] and leads_somewhere and not {"api", "blobs"} & set(request.blueprints):
            csrf.protect()
