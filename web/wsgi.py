"""gunicorn's door: `gunicorn "web.wsgi:application()"`."""

import atexit
import os
import time

import structlog
from flask import Flask

from shared.bill import Prices
from shared.errors import Busy
from shared.metrics import DIRECTORY, MetricsServer
from shared.services import Services, metrics_folder, open_services
from shared.settings import Settings
from shared.telemetry import Meter, configure_logging, tell
from web.app import create_app

PATIENCE = 2.0
"""Seconds: whoever waits for a page is told to come again sooner than a worker would be."""

OPEN_WITHIN = 20.0
"""Seconds: gunicorn ends every other worker too when one cannot start, and one that starts for over 30 s."""
_ASK_AGAIN_AFTER = 0.5


def application() -> Flask:
    """The site over the storage the environment names.

    Raises Invalid for a setting that cannot be used, Busy for a storage that stays away, Full for a full disk.
    """
    settings = Settings.from_environment(os.environ)
    configure_logging(settings.log_level, process=os.getpid(), role="web")
    services = _opened(settings)
    if settings.metrics:
        os.environ[DIRECTORY] = str(metrics_folder(settings))
        MetricsServer(settings.metrics, metrics_folder(settings), list).keep_trying()
    atexit.register(_last_words, services.meter, Prices.read(settings.prices))
    return create_app(services)


def _opened(settings: Settings) -> Services:
    until = time.monotonic() + OPEN_WITHIN
    while True:
        try:
            return open_services(settings, caller="web", patience=PATIENCE)
        except Busy as error:
            if time.monotonic() > until:
                raise
            structlog.get_logger().warning("storage away", what=str(error))
        time.sleep(_ASK_AGAIN_AFTER)


def _last_words(meter: Meter, prices: Prices) -> None:
    structlog.get_logger().info("drained", **tell(meter, prices))
