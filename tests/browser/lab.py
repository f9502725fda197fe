"""A Jupyter server of one's own, and a notebook that is run in its pages."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from playwright.sync_api import Browser, Page

from .conftest import ROOT

SECONDS = 1000
NEWS = {"fetchNews": "false", "checkForUpdates": False}
# Where a notebook is opened, in JupyterLab and in Jupyter Notebook.
LAB, NOTEBOOK = "lab/tree", "notebooks"
CURRENT = "jupyterapp.shell.currentWidget.sessionContext.session.kernel"
KERNEL_IS_IDLE = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
FIRST = "from pathlib import Path\nimport os, time\nPath('kernel.pid').write_text(str(os.getpid()))"


@dataclass
class Server:
    """A Jupyter server and the folder that it shows."""

    address: str
    folder: Path

    def shut_down_kernels(self) -> None:
        with urllib.request.urlopen(f"{self.address}api/kernels") as answer:
            kernels = json.load(answer)
        for kernel in kernels:
            request = urllib.request.Request(f"{self.address}api/kernels/{kernel['id']}", method="DELETE")
            urllib.request.urlopen(request).close()

    @contextlib.contextmanager
    def running(
        self, chromium: Browser, book: nbformat.NotebookNode, app: str = LAB, **settings: str
    ) -> Iterator[Opened]:
        """Open a notebook, with these variables in its kernel's environment, and run all of it."""
        folder = self.folder / str(len(list(self.folder.iterdir())))
        folder.mkdir()
        first = nbformat.v4.new_code_cell(f"{FIRST}\nos.environ |= {settings!r}")
        nbformat.write(nbformat.from_dict({**book, "cells": [first, *book.cells]}), folder / "live.ipynb")
        with contextlib.closing(chromium.new_context(viewport={"width": 1400, "height": 1000})) as context:
            opened = Opened(context.new_page(), self, folder)
            opened.page.goto(f"{self.address}{app}/{folder.name}/live.ipynb{'?reset' if app == LAB else ''}")
            opened.is_there()
            opened.began = time.monotonic()
            opened.page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
            yield opened
        self.shut_down_kernels()


@dataclass
class Opened:
    """A notebook in the browser, and the process of its kernel."""

    page: Page
    server: Server
    folder: Path
    began: float = 0.0  # when it was told to run all cells, on time.monotonic()

    @property
    def kernel(self) -> int:
        return int((self.folder / "kernel.pid").read_text())

    def is_there(self) -> None:
        self.page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=90 * SECONDS)
        self.page.wait_for_function(KERNEL_IS_IDLE, timeout=90 * SECONDS)

    def run(self, code: str) -> None:
        """Let the notebook's kernel run more code."""
        self.page.evaluate(f"code => {CURRENT}.requestExecute({{ code }}).done", code)

    def saved(self) -> list[dict]:
        """Save the notebook; gives what each output holds in the file, by type."""
        self.page.evaluate("jupyterapp.commands.execute('docmanager:save')")
        cells = nbformat.read(self.folder / "live.ipynb", as_version=4).cells
        return [output.data for cell in cells for output in cell.get("outputs", []) if "data" in output]

    def reopen(self) -> None:
        """Load the page anew, with the notebook as it was saved."""
        self.page.reload()
        self.is_there()


@contextlib.contextmanager
def serving_jupyter(folder: Path) -> Iterator[Server]:
    """A Jupyter server on a free port, with no one's settings."""
    home, shown = folder / "home", folder / "shown"
    news = home / "settings/@jupyterlab/apputils-extension"
    news.mkdir(parents=True)
    shown.mkdir()
    (news / "notification.jupyterlab-settings").write_text(json.dumps(NEWS))
    options = [
        "--no-browser", "--allow-root", "--port=0", "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True",
        "--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True",
        f"--ServerApp.root_dir={shown}",
    ]  # fmt: skip
    with (folder / "server.log").open("w") as log:
        command = [sys.executable, "-m", "jupyterlab", *options]
        server = subprocess.Popen(command, cwd=folder, env=_environment(home), stdout=log, stderr=log)
        try:
            info = home / "runtime" / f"jpserver-{server.pid}.json"
            yield Server(_address(server, info, folder / "server.log"), shown)
        finally:
            server.terminate()
            server.wait(timeout=30)


def _environment(home: Path) -> dict[str, str]:
    places = {"CONFIG_DIR": "config", "DATA_DIR": "data", "RUNTIME_DIR": "runtime"}
    others = ("S2B_", "JUPYTER", "OPENAI_", "HTTP_", "HTTPS_", "ALL_PROXY")
    return {
        **{key: value for key, value in os.environ.items() if not key.upper().startswith(others)},
        **{f"JUPYTER_{key}": str(home / place) for key, place in places.items()},
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "spaces"),
        "PYTHONPATH": str(ROOT),
        "IPYTHONDIR": str(home / "ipython"),
    }


def _address(server: subprocess.Popen, info: Path, log: Path) -> str:
    for _ in range(600):
        assert server.poll() is None, log.read_text()
        with contextlib.suppress(OSError, json.JSONDecodeError):
            return json.loads(info.read_text())["url"].replace("localhost", "127.0.0.1")
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start: {log.read_text()}")
