"""The headers of every answer: what a page may load, who may frame it, what it tells other sites."""

from flask import Response, request

from web.site import services

_POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'{store}; img-src 'self'{store} data: blob:; media-src 'self'{store} blob:; "
    "worker-src 'self' blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors {ancestors}"
)


def _store() -> str:
    """Blocks go to the storage account, and media come from there, where it has a door of its own."""
    origin = services().blobs.browser_origin()
    return f" {origin}" if origin else ""


def set_headers(response: Response) -> Response:
    embedded = request.endpoint == "watch.embed"
    policy = _POLICY.format(ancestors="*" if embedded else "'self'", store=_store())
    response.headers.setdefault("Content-Security-Policy", policy)
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Referrer-Policy", "strict-origin-when-cross-origin")
    if response.mimetype in ("text/html", "application/json"):
        response.headers.setdefault("Cache-Control", "private, no-cache")
    return response
