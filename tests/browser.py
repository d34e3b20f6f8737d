"""A real Chromium for tests: `browser` is started once a run, `visit` gives a fresh page that notes what went wrong on it."""

import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
SMALLEST = {"width": 320, "height": 640}


@dataclass
class Visit:
    """One person's page. `errors` are console errors and uncaught failures, `elsewhere` requests to other sites."""

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        """Open a page of the site and wait until its scripts have run."""
        self.page.goto(self.address + path, wait_until="load")
        return self.page

    def watch(self) -> "Visit":
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._request)
        return self

    def sign_in(self, name: str, password: str) -> Page:
        self.go("/login")
        self.page.get_by_label("Name or e-mail").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.locator("main").get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(lambda url: "/login" not in url)
        return self.page

    def enter(self, name: str, password: str) -> None:
        """Sign in without a page: what is shown is the next test's affair, and two pages less to draw."""
        request = self.page.context.request
        form = request.get(self.address + "/login").text()
        token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', form)
        assert token, form
        fields = {"csrf_token": token[1], "email": name, "password": password}
        answer = request.post(self.address + "/login", form=fields, max_redirects=0)
        assert answer.status in (302, 303), answer.text()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.elsewhere.append(request.url)


def start(playwright: Any, **options: Any) -> Browser:
    """Debian's Chromium with the switches every test uses. Fails, rather than skips, where there is none."""
    path = shutil.which("chromium")
    assert path, "no chromium on PATH; infra/test installs it where it may"
    return playwright.chromium.launch(executable_path=path, args=SWITCHES, **options)


def until(page: Page, condition: str, *, seconds: float = 20) -> None:
    """Wait until a JavaScript expression holds. (Playwright's own wait_for_function needs eval, which our pages forbid.)"""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"not within {seconds} s: {condition}"
        page.wait_for_timeout(50)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = start(playwright)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """`visit(address, viewport=..., **context options)`: each its own person, without the cookies of the others."""
    with visiting(browser) as open_page:
        yield open_page


@contextmanager
def visiting(browser: Browser) -> Iterator[Callable[..., Visit]]:
    contexts = []

    def open_page(address: str, viewport: dict[str, int] = DESKTOP, **options: Any) -> Visit:
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        return Visit(context.new_page(), address).watch()

    yield open_page
    for context in contexts:
        context.close()
