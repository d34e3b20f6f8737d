"""Each request is a span, where traces are asked for; it goes on with the trace its caller sent."""

from contextlib import ExitStack

from flask import Flask, Response, g, request

from shared.tracing import HEADER, NoTracing, Tracing


def install(app: Flask, tracing: Tracing) -> None:
    if isinstance(tracing, NoTracing):
        return

    @app.before_request
    def begin() -> None:
        rule = request.url_rule.rule if request.url_rule else "nowhere"
        about = {"video": video} if (video := (request.view_args or {}).get("video_id")) else {}
        g.tracing = ExitStack()
        opened = tracing.span(f"{request.method} {rule}", kind="server", parent=request.headers.get(HEADER), **about)
        g.span = g.tracing.enter_context(opened)
        g.traceparent = g.span.traceparent

    @app.after_request
    def note(response: Response) -> Response:
        if "span" in g:
            g.span.say(status=response.status_code)
            if response.status_code >= 500:
                g.span.fail(response.status)
        return response

    @app.teardown_request
    def end(_: BaseException | None) -> None:
        tracing_of_this = g.pop("tracing", None)
        if tracing_of_this is not None:
            tracing_of_this.close()
