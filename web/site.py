"""What every view is handed: the services this site runs on, and the trace its request belongs to."""

from typing import cast

from flask import current_app, g

from shared.services import Services

EXTENSION = "matinee"


def services() -> Services:
    return cast(Services, current_app.extensions[EXTENSION])


def traceparent() -> str | None:
    """What tickets sent by this request go out under, for whoever follows them (shared/tracing.py)."""
    return cast(str | None, g.get("traceparent"))
