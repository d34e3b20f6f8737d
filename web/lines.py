"""Lines of the log say of which request they are, and of which video where its address names one."""

import secrets

from flask import Flask, Response, request
from structlog.contextvars import bind_contextvars, unbind_contextvars

HEADER = "X-Request-ID"


def install(app: Flask) -> None:
    @app.before_request
    def bind() -> None:
        request_id = secrets.token_hex(6)
        request.environ[HEADER] = request_id
        video = (request.view_args or {}).get("video_id")
        bind_contextvars(request=request_id, **({"video": video} if video else {}))

    @app.after_request
    def tell(response: Response) -> Response:
        """So that whoever reports a failed page can name it."""
        response.headers[HEADER] = request.environ.get(HEADER, "-")
        return response

    @app.teardown_request
    def unbind(_: BaseException | None) -> None:
        unbind_contextvars("request", "video")
