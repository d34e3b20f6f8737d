"""gunicorn's door: `gunicorn "web.wsgi:application()"`."""

import os

from flask import Flask

from shared.services import open_services
from shared.settings import Settings
from shared.telemetry import configure_logging
from web.app import create_app


def application() -> Flask:
    """The site over the storage the environment names. Raises Invalid for a setting that cannot be used."""
    settings = Settings.from_environment(os.environ)
    configure_logging(settings.log_level, process=os.getpid(), role="web")
    return create_app(open_services(settings, caller="web"))
