"""A headless browser at the end of two pipes: opens a page, presses keys, clicks, and hears what it complains of."""

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_SECONDS = 60.0
_QUIET = ("gpu", "quic", "background-networking", "component-update", "sync", "extensions", "dev-shm-usage")


def found() -> str | None:
    """The path of a browser, or None where none is installed."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page. `complaints` are messages of the console and the log, `asked` the addresses that were asked for."""

    def __init__(self, orders: int, answers: int) -> None:
        self.orders, self.answers = orders, answers
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self._buffer, self._number, self._session = b"", 0, ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """Carry out one command of the protocol, and note what happens meanwhile."""
        self._number += 1
        order = {"id": self._number, "method": method, "params": parameters}
        os.write(
            self.orders, json.dumps(order | ({"sessionId": self._session} if self._session else {})).encode() + b"\0"
        )
        while True:
            message = self._message()
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            self._note(message)

    def wait_for(self, event: str) -> None:
        """Until this happens."""
        while True:
            message = self._message()
            self._note(message)
            if message.get("method") == event:
                return

    def open(self, path: Path, width: int = 1280, scheme: str = "light") -> None:
        """Open a file in a window of this width."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=path.as_uri())
        self.wait_for("Page.loadEventFired")

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """Click in the middle of the first element that fits."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.ask(f"{element}.scrollIntoView({{block: 'center'}})")
        x, y, width, height = self.ask(f"(r => [r.x, r.y, r.width, r.height])({element}.getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=x + width / 2, y=y + height / 2, button="left", clickCount=1
            )

    def press(self, key: str, code: int) -> None:
        """Press one key."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def _message(self) -> dict[str, Any]:
        end = time.monotonic() + _SECONDS
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"the browser said nothing for {_SECONDS:g} s"
            piece = os.read(self.answers, 1 << 16)
            assert piece, "the browser has ended"
            self._buffer += piece
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        told = message.get("params", {})
        if message.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(json.dumps(told))
        if message.get("method") == "Network.requestWillBeSent":
            self.asked.append(told["request"]["url"])


@contextmanager
def started(program: str, folder: Path) -> Iterator[Browser]:
    """A browser with an empty profile in this folder; it is ended and waited for on every path."""
    their_orders, orders = os.pipe()
    answers, their_answers = os.pipe()
    options = ["--headless", "--remote-debugging-pipe", "--no-first-run", f"--user-data-dir={folder}"]
    options += [f"--disable-{name}" for name in _QUIET] + (["--no-sandbox"] if os.geteuid() == 0 else [])
    # The protocol wants the descriptors 3 and 4, which may be taken here.
    shell = f'exec "$0" "$@" 3<&{their_orders} 4>&{their_answers}'
    process = subprocess.Popen(
        ["bash", "-c", shell, program, *options, "about:blank"],
        pass_fds=(their_orders, their_answers),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(their_orders)
    os.close(their_answers)
    try:
        yield Browser(orders, answers)
    finally:
        os.close(orders)  # a browser whose orders end ends itself
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(answers)
