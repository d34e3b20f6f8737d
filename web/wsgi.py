"""gunicorn's door: `gunicorn "web.wsgi:application()"`."""

import atexit
import os

import structlog
from flask import Flask

from shared.bill import Prices
from shared.services import open_services
from shared.settings import Settings
from shared.telemetry import Meter, configure_logging, tell
from web.app import create_app

PATIENCE = 2.0
"""Seconds: whoever waits for a page is told to come again sooner than a worker would be."""


def application() -> Flask:
    """The site over the storage the environment names. Raises Invalid for a setting that cannot be used."""
    settings = Settings.from_environment(os.environ)
    configure_logging(settings.log_level, process=os.getpid(), role="web")
    services = open_services(settings, caller="web", patience=PATIENCE)
    atexit.register(_last_words, services.meter, Prices.read(settings.prices))
    return create_app(services)


def _last_words(meter: Meter, prices: Prices) -> None:
    structlog.get_logger().info("drained", **tell(meter, prices))
