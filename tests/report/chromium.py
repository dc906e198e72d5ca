"""Chromium: a real browser for the tests of pages, driven over a pipe with its own protocol."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Without a sandbox, since tests run as root in containers; without whatever would use a network by itself.
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]
_PATIENCE = 60.0


def find_browser() -> str | None:
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@dataclass
class Look:
    """How a page looked: its size, and what went wrong on the way."""

    page_width: int
    view_width: int
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def _pipe() -> tuple[int, int]:
    """Two ends, neither of them 3 or 4, which the browser needs for itself."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]


class Chromium:
    """One browser with one tab. Use it in a `with`."""

    def __init__(self, executable: str) -> None:
        self._folder = TemporaryDirectory(prefix="chromium", ignore_cleanup_errors=True)
        to_browser, self._to = _pipe()
        self._from, from_browser = _pipe()

        def wire() -> None:
            """The browser reads its orders from descriptor 3, and answers on 4."""
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        self._process = subprocess.Popen(
            [executable, *_FLAGS, f"--user-data-dir={self._folder.name}"],
            preexec_fn=wire,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._number = 0
        self._events: list[dict[str, Any]] = []
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    # --- what tests do ---

    def open(
        self, page: Path, *, width: int = 1280, height: int = 900, dark: bool = False, print_: bool = False
    ) -> Look:
        """Loads a file and says what happened."""
        self._events.clear()
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700}
        self.call("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", {"media": "print" if print_ else "", "features": [scheme]})
        self.call("Page.navigate", {"url": page.absolute().as_uri()})
        self._wait_for("Page.loadEventFired")
        self.call("Runtime.evaluate", {"expression": "new Promise(requestAnimationFrame)", "awaitPromise": True})
        look = Look(self.run("document.documentElement.scrollWidth"), self.run("document.documentElement.clientWidth"))
        self._note(look, page)
        return look

    def run(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"].get("exception", {}).get("description", answer))
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", {"type": kind, "key": key, "code": key})

    def move(self, x: float, y: float) -> None:
        self.call("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """A screenshot of the page as a PNG."""
        shot = self.call("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole})
        path.write_bytes(base64.b64decode(shot["data"]))

    def call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        return self._call(method, params, self._session)

    # --- the protocol ---

    def _call(self, method: str, params: dict[str, Any] | None = None, session: str | None = None) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params or {}}
        if session is not None:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._events.append(answer)

    def _wait_for(self, event: str) -> None:
        while not any(one.get("method") == event for one in self._events):
            self._events.append(self._receive())

    def _receive(self) -> dict[str, Any]:
        until = time.monotonic() + _PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(until - time.monotonic(), 0))
            chunk = os.read(self._from, 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError("the browser does not answer")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def _note(self, look: Look, page: Path) -> None:
        for event in self._events:
            params = event.get("params", {})
            match event.get("method"):
                case "Runtime.exceptionThrown":
                    look.errors.append(str(params["exceptionDetails"]))
                case "Runtime.consoleAPICalled":
                    look.errors.append(str(params["args"]))
                case "Log.entryAdded":
                    look.errors.append(params["entry"]["text"])
                case "Network.requestWillBeSent":
                    url = params["request"]["url"]
                    if url != page.absolute().as_uri() and not url.startswith("data:"):
                        look.requests.append(url)

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._folder.cleanup()

    def __enter__(self) -> Chromium:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
