"""The services this site runs on, for every view."""

from typing import cast

from flask import current_app

from shared.services import Services

EXTENSION = "matinee"


def services() -> Services:
    return cast(Services, current_app.extensions[EXTENSION])
