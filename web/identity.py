"""Who is asking: the bearer of a personal token, or whoever is signed in; and whether a request is really theirs."""

from urllib.parse import urlsplit

from flask import abort, g, redirect, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as Answer

from shared.errors import Forbidden, MatineeError, NotFound
from shared.people import Person
from web.errors import Unauthorized
from web.site import services

_SAFE = {"GET", "HEAD", "OPTIONS"}


def asking() -> Person | None:
    """The person behind this request, or None. Raises Unauthorized for a token that is none."""
    if "asking" not in g:
        g.asking = _find()
    return g.asking  # type: ignore[no-any-return]


def shown() -> Person | None:
    """The same for what surrounds every page: a page that says what is wrong with a token must not trip over it too."""
    try:
        return asking()
    except MatineeError:
        return None


def needed(role: str = "viewer") -> Person:
    """The person behind this request. Raises Unauthorized without one, Forbidden below `role`."""
    person = asking()
    if person is None:
        raise Unauthorized("sign in, or send a personal token: Authorization: Bearer ...")
    if not person.may(role):
        raise Forbidden(f"your account is a {person.role}'s; this needs a {role}'s")
    return person


def needed_on_page(role: str = "viewer") -> Person:
    """The same for a page: whoever is not signed in is sent to do so, and comes back here."""
    if asking() is None:
        back = request.full_path.rstrip("?") if request.method in _SAFE else None  # a form cannot be sent by a link
        there: Answer = redirect(url_for("security.login", next=back))
        abort(there)
    return needed(role)


def check_same_site() -> None:
    """Refuse a change asked for with the browser's cookie by another site's page. Raises Forbidden."""
    if request.method in _SAFE or _bearer() is not None:
        return
    fetch_site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    if fetch_site is not None and fetch_site not in ("same-origin", "none"):
        raise Forbidden("this request came from another site")
    if origin is not None and urlsplit(origin).netloc != request.host:
        raise Forbidden("this request came from another site")


def _bearer() -> str | None:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _find() -> Person | None:
    token = _bearer()
    if token is None:
        return current_user.person if current_user.is_authenticated else None
    try:
        person = services().people.by_token(token)
    except NotFound:
        raise Unauthorized("this token is not valid (any more)") from None
    if not person.active:
        raise Unauthorized("this account is closed")
    return person
