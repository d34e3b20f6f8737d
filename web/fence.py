"""The headers of every answer: what a page may load, who may frame it, what it tells other sites."""

from flask import Response, request

_POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; media-src 'self' blob:; worker-src 'self' blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors {ancestors}"
)


def set_headers(response: Response) -> Response:
    embedded = request.endpoint == "watch.embed"
    policy = _POLICY.format(ancestors="*" if embedded else "'self'")
    response.headers.setdefault("Content-Security-Policy", policy)
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Referrer-Policy", "strict-origin-when-cross-origin")
    if response.mimetype in ("text/html", "application/json"):
        response.headers.setdefault("Cache-Control", "private, no-cache")
    return response
