"""Chromium through ChromeDriver's own protocol: pages are opened as a person opens them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


def why_not() -> str | None:
    """Why no page can be opened here, None where one can."""
    if shutil.which("chromedriver") is None or shutil.which("chromium") is None:
        return "there is no chromium with chromedriver here"
    return None


class Browser:
    """One window. Use as a context manager."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "chromedriver.log"
        self._profile = folder / "profile"

    def __enter__(self) -> Browser:
        with self._log.open("w") as log:
            self._driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=log, stderr=subprocess.STDOUT)
        try:
            self._address = f"http://127.0.0.1:{self._port()}"
            options = {
                "binary": shutil.which("chromium"),
                "args": [*ARGUMENTS, f"--user-data-dir={self._profile}"],
            }
            capabilities = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
            self._session = self._ask("/session", {"capabilities": capabilities})["sessionId"]
        except BaseException:
            self._driver.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._ask(f"/session/{self._session}", None, method="DELETE")
        finally:
            self._driver.terminate()
            self._driver.wait(10)

    def open(self, page: Path | str, *, dark: bool = False, width: int = 1200, media: str = "screen") -> None:
        """Open a file or an address as somebody with a dark or light system and a window this wide does, or as it is printed."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._chrome("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self._chrome("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self._say("url", url=page if isinstance(page, str) else page.as_uri())

    def run(self, script: str) -> Any:
        """What the script returns; it is the browser's, so that the page's policy does not hold it back."""
        return self._say("execute/sync", script=script, args=[])

    def complaints(self) -> list[str]:
        """What stands in the console."""
        return [entry["message"] for entry in self._say("se/log", type="browser")]

    def _chrome(self, command: str, **parameters: Any) -> Any:
        return self._say("goog/cdp/execute", cmd=command, params=parameters)

    def _say(self, command: str, **body: Any) -> Any:
        return self._ask(f"/session/{self._session}/{command}", body)

    def _ask(self, path: str, body: Any, method: str = "POST") -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._address + path, data, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def _port(self) -> str:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            found = re.search(r"successfully on port (\d+)", self._log.read_text())
            if found is not None:
                return found[1]
            time.sleep(0.05)
        raise TimeoutError(self._log.read_text())
