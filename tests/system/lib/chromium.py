"""A browser without a window, controlled over two pipes by its debugging protocol."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile

from .wait import eventually, hang, now


def program():
    """None if there is no browser."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page. `said` collects the browser's complaints."""

    def __init__(self, width=1200, height=900):
        self.directory = tempfile.mkdtemp(prefix="lbt-browser-")
        from_us, self._to = os.pipe()
        self._from, to_us = os.pipe()
        arguments = [program(), "--headless=new", "--no-sandbox", "--disable-gpu",
                     "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                     f"--user-data-dir={self.directory}", f"--window-size={width},{height}",
                     "--remote-debugging-pipe", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{from_us} 4>&{to_us}', "bash", *arguments],
            pass_fds=(from_us, to_us), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self._input = b""
        self._last = 0
        self._session = None
        self.said = []
        pages = eventually(self._pages, 30, "the browser has a page")
        self._session = self.ask("Target.attachToTarget", targetId=pages[0]["targetId"],
                                 flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self.ask(part + ".enable")

    def _pages(self):
        return [t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page"]

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _next(self, deadline):
        while b"\0" not in self._input:
            ready, _, _ = select.select([self._from], [], [], max(0, deadline - now()))
            part = os.read(self._from, 1 << 20) if ready else b""
            assert part, "the browser says nothing more"
            self._input += part
        one, self._input = self._input.split(b"\0", 1)
        return json.loads(one)

    def _note(self, event):
        method, told = event.get("method"), event.get("params", {})
        if method == "Log.entryAdded":
            self.said.append(told["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.said.append(str(told["exceptionDetails"]))

    def ask(self, method, **parameters):
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        deadline = now() + hang(30)
        while True:
            answer = self._next(deadline)
            if answer.get("id") == self._last:
                assert "error" not in answer, f"{method}: {answer}"
                return answer["result"]
            self._note(answer)

    def evaluate(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, url):
        self.ask("Page.navigate", url=url)
        eventually(lambda: self.evaluate("document.readyState") == "complete" and
                   self.evaluate("location.href") != "about:blank", 20, "it is loaded")

    def text(self, selector="body"):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText")

    def look(self, width, dark=False):
        """As on a screen of this width."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900,
                 deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def scripts(self, allowed):
        self.ask("Emulation.setScriptExecutionDisabled", value=not allowed)

    def screenshot(self, path):
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
