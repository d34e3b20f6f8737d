"""Requests, counted and timed by route where metrics are asked for."""

import time

from flask import Flask, Response, g, request

from shared.metrics import Metrics

_BLOCKS = "uploads.put_block"


def install(app: Flask, metrics: Metrics | None) -> None:
    if metrics is None:
        return

    @app.before_request
    def begin() -> None:
        g.began = time.perf_counter()

    @app.after_request
    def count(response: Response) -> Response:
        """By the route's pattern, never by the address: there would be one for every video."""
        route = request.url_rule.rule if request.url_rule else "nowhere"
        seconds = time.perf_counter() - g.get("began", time.perf_counter())
        metrics.observe(
            "matinee_request_seconds", request.method, route, str(response.status_code), seconds=seconds
        )
        if (request.endpoint or "").endswith(_BLOCKS) and response.status_code == 201:
            metrics.add("matinee_upload_bytes_total", by=request.content_length or 0)
        return response
