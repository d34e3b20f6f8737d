"""Named failures become a status and a sentence; a traceback never reaches anybody."""

from collections.abc import Callable

import structlog
from flask import Flask, Response, jsonify, make_response, render_template, request
from flask_babel import gettext as _
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException

from shared.errors import Busy, Conflict, Forbidden, Full, Invalid, Lost, MatineeError, NotFound


class Unauthorized(MatineeError):
    """Nobody is signed in, or the token is not valid."""


class TooLarge(MatineeError):
    """More bytes than are taken."""


class TooMany(MatineeError):
    """Too many requests; try again later."""


STATUS: dict[type[MatineeError], int] = {
    Unauthorized: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    Lost: 409,
    TooLarge: 413,
    TooMany: 429,
    Invalid: 400,
    Busy: 503,
    Full: 507,
}
_RETRY_AFTER = {503: "2", 507: "60", 429: "60"}


def needed_key(key: str) -> str:
    if not key:
        raise Invalid("MATINEE_SECRET_KEY is not set; it signs sessions and links (infra/up makes one)")
    return key


def install(app: Flask) -> None:
    app.register_error_handler(MatineeError, _named)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(CSRFError, _csrf)
    app.register_error_handler(UnicodeError, _no_text)
    app.register_error_handler(Exception, _unexpected)


def _named(error: MatineeError) -> Response:
    status = next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)
    if status == 500:
        return _unexpected(error)
    return _answer(status, type(error).__name__, str(error))


def _http(error: HTTPException) -> Response:
    if error.response is not None:
        return error.response  # type: ignore[return-value]
    status = error.code or 500
    sentence = _plain(status) or (error.description or error.name).rstrip(".")
    response = _answer(status, error.name.replace(" ", ""), sentence)
    for header, value in error.get_headers():
        if header.lower() != "content-type":
            response.headers[header] = value
    return response


def _no_text(error: UnicodeError) -> Response:
    structlog.get_logger().info("request refused", path=request.path, method=request.method, reason=str(error))
    return _answer(400, "Invalid", _("this request holds text that no one can read (it is not Unicode)"))


def _csrf(_error: CSRFError) -> Response:
    return _answer(400, "Invalid", _("this page was open for too long; load it again and send the form once more"))


def _unexpected(error: Exception) -> Response:
    structlog.get_logger().error("request failed", path=request.path, method=request.method, exc_info=error)
    sentence = _("something went wrong on our side; nothing of yours was lost. Try again in a moment")
    return _answer(500, "Error", sentence)


def _answer(status: int, code: str, sentence: str) -> Response:
    sentence = sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith((".", "!", "?")) else ".")
    if _wants_json():
        response = make_response(jsonify(error={"code": code, "message": sentence}), status)
    elif request.path.startswith("/media/") or request.path.startswith("/blobs/"):
        response = make_response(sentence + "\n", status, {"Content-Type": "text/plain; charset=utf-8"})
    else:
        page = render_template("error.html", status=status, heading=_heading(status)(), sentence=sentence)
        response = make_response(page, status)
    if status in _RETRY_AFTER:
        response.headers["Retry-After"] = _RETRY_AFTER[status]
    if status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    response.headers["Cache-Control"] = "no-store"
    return response


def _plain(status: int) -> str | None:
    if status == 404:
        return str(_("this address leads nowhere; perhaps the link is old, or a letter of it is missing"))
    if status == 405:
        return str(_("this address does not take %(method)s", method=request.method))
    return None


def _wants_json() -> bool:
    return request.path.startswith(("/api/", "/health/"))


def _heading(status: int) -> Callable[[], str]:
    return {
        403: lambda: _("This is not yours to see or change"),
        404: lambda: _("There is nothing here"),
        429: lambda: _("That was too often"),
        503: lambda: _("Busy for a moment"),
        507: lambda: _("The server is full"),
    }.get(status, lambda: _("That did not work"))
