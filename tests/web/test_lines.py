"""What the log says of a request."""

import structlog
from flask import Flask
from structlog.contextvars import get_contextvars
from structlog.testing import capture_logs


def test_a_line_names_its_request_and_the_video_of_its_address(app: Flask) -> None:
    seen: list[dict[str, object]] = []

    @app.get("/told/<video_id>")
    def told(video_id: str) -> str:
        seen.append(dict(get_contextvars()))
        return video_id

    answer = app.test_client().get("/told/12345678901")
    assert seen == [{**seen[0], "request": answer.headers["X-Request-ID"], "video": "12345678901"}]
    assert {"request", "video"} & set(get_contextvars()) == set()


def test_a_failed_page_can_be_found_in_the_log(app: Flask) -> None:
    @app.get("/broken")
    def broken() -> str:
        structlog.get_logger().warning("about to break")
        raise RuntimeError("broken on purpose")

    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        answer = app.test_client().get("/broken")
    assert answer.status_code == 500
    assert {line.get("request") for line in lines} == {answer.headers["X-Request-ID"]}
