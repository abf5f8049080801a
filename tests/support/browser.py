"""A real browser that looks at the console: Playwright of `make console`, and the system's Chromium."""

from __future__ import annotations

import shutil
import site
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from starlette.applications import Starlette

from tests import ROOT
from tests.support.waiting import PATIENCE_S, until
from workers.retrieval.serving import configured

TOOLS = ROOT / ".tools" / "console"
LOOPBACK = {"127.0.0.1", "localhost"}
SIZES = {"wide": (1280, 900), "narrow": (390, 844)}


def missing() -> str:
    """Returns what a browser test lacks here; nothing if it can run."""
    if not (TOOLS / ".ready").exists():
        return "Playwright is not installed: run `make console`"
    return "" if chromium() else "there is no Chromium: run `apt-get install chromium`"


def chromium() -> str | None:
    """Returns the path of the system's Chromium, if it is installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def started() -> Iterator[Any]:
    """Starts the browser. Skips the test where something is missing."""
    if lacks := missing():
        pytest.skip(lacks)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    # Behind what the tests themselves run on, which keeps its versions.
    site.addsitedir(str(TOOLS / "lib" / version / "site-packages"))
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-lcd-text"])
        yield browser
        browser.close()


@dataclass
class Look:
    """A tab of the browser, and what it met: `said` on its console, `beyond` the loopback interface, and all
    `requests`."""

    page: Any
    base: str
    said: list[str] = field(default_factory=list)
    beyond: list[str] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)

    def open(self, place: str = "") -> None:
        """Opens a page of the console anew and waits until it is there."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.base}/console/#/{place}")
        self.there()

    def there(self) -> None:
        """Waits until nothing is awaited any more."""
        from playwright.sync_api import expect

        self.page.locator("h1").first.wait_for()
        # By a locator: the page's policy forbids what Playwright would evaluate.
        expect(self.page.locator(".waiting, [aria-busy=true]")).to_have_count(0, timeout=PATIENCE_S * 1000)

    def text(self) -> str:
        """Returns the shown text of the page."""
        return str(self.page.locator("main").inner_text())


@contextmanager
def looking(browser: Any, base: str, *, size: str = "wide", theme: str = "light", key: str = "") -> Iterator[Look]:
    """Opens a tab that can reach the loopback interface alone. Fails at the end if the page reached for more, or said
    an error. `key`: an API key that it has from before."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
    context.set_default_timeout(PATIENCE_S * 1000)
    look = Look(context.new_page(), base)
    context.route("**/*", lambda route: _pass(route, look))
    if key:
        context.add_init_script(f"location.protocol === 'about:' || sessionStorage.setItem('memquorum.key', '{key}')")
    look.page.on("console", lambda one: look.said.append(f"{one.type}: {one.text}") if one.type != "log" else None)
    look.page.on("pageerror", lambda error: look.said.append(f"error: {error}"))
    look.page.on("requestfinished", lambda one: look.requests.append(one))  # noqa: PLW0108 - of a built-in it keeps no note
    try:
        yield look
    finally:
        context.close()
    assert look.beyond == [], f"it reached beyond the loopback interface: {look.beyond}"
    assert look.said == [], f"it said an error: {look.said}"


def _pass(route: Any, look: Look) -> None:
    if urlsplit(route.request.url).hostname in LOOPBACK:
        route.continue_()
        return
    look.beyond.append(route.request.url)
    route.abort()


@contextmanager
def served(built: Starlette) -> Iterator[str]:
    """Serves an application at a free port; yields its address."""
    server = uvicorn.Server(configured(built, "127.0.0.1", 0))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started or not thread.is_alive())
        host, port = server.servers[0].sockets[0].getsockname()
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
