"""What every test may ask for. One Chromium serves them all: a second one in the same process cannot be started."""

from tests.browser import browser, visit  # noqa: F401 - fixtures
