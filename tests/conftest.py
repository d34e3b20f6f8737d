"""What every test may ask for. One Chromium serves them all: a second one in the same process cannot be started.

So does one Azurite, of which each test gets an account of its own.
"""

from tests.azurite.fixtures import account, emulator  # noqa: F401 - fixtures
from tests.browser import browser, visit  # noqa: F401 - fixtures
