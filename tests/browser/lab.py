"""JupyterLab on this machine, opened in a real browser: for the browser tests and the slider benchmark."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
TOKEN = "of-the-tests"
START = "from autograder import quick; from jupyterlab.labapp import main; main()"
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
# the indicator says "idle" before there is a kernel, too; a cell run then opens a dialog that asks for one
IDLE = """() => document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle'
    && /\\| Idle/.test(document.querySelector('#jp-main-statusbar')?.textContent)"""


def chromium() -> str | None:
    """A Chromium or Chrome of this machine."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return next(filter(None, found), MAC if Path(MAC).exists() else None)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def lab(folder: Path, settings: str = "", dark: bool = False):
    """A JupyterLab with a home of its own, started in `folder`; yields its address.

    settings: what stands in the nbgrader_config.py of its user, beside the one that `folder` may hold.
    dark: whether it opens in JupyterLab's dark theme.
    """
    home, port = Path(tempfile.mkdtemp(prefix="lab-")), free_port()
    env = {**os.environ, "HOME": str(home)}
    for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"):
        env[f"JUPYTER_{name}"] = str(home / name.lower())
    for name in ("SETTINGS", "WORKSPACES"):
        env[f"JUPYTERLAB_{name}_DIR"] = str(home / name.lower())
    env["IPYTHONDIR"] = str(home / "ipython")
    page_config = home / "config_dir" / "labconfig" / "page_config.json"
    page_config.parent.mkdir(parents=True)
    page_config.write_text(json.dumps({"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}))
    if dark:
        themes = home / "settings" / "@jupyterlab" / "apputils-extension" / "themes.jupyterlab-settings"
        themes.parent.mkdir(parents=True)
        themes.write_text(json.dumps({"theme": "JupyterLab Dark"}))
    (home / "config_dir" / "nbgrader_config.py").write_text(f"c = get_config()\n{settings}")
    command = [
        *(sys.executable, "-c", START, "--allow-root", "--no-browser", "--ip=127.0.0.1", f"--port={port}"),
        *("--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}"),
    ]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, env=env, cwd=folder, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{url}/api?token={TOKEN}", server, home / "log")
        yield url
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        shutil.rmtree(home, ignore_errors=True)


def wait_for(url: str, server: subprocess.Popen, log: Path) -> None:
    for _ in range(240):
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.5)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(errors='replace')[-2000:]}")


@contextlib.contextmanager
def browser(width: int = 1280, height: int = 1000, asked: list | None = None):
    """A page of a fresh browser. What it asks of other machines is refused, and noted in `asked`."""
    from playwright.sync_api import sync_playwright

    def refuse(route):
        if asked is not None:
            asked.append(route.request.url)
        route.abort()

    profile = tempfile.mkdtemp(prefix="profile-")
    try:
        with sync_playwright() as playwright:
            context = playwright.chromium.launch_persistent_context(
                profile,
                executable_path=chromium(),
                headless=True,
                args=FLAGS,
                viewport={"width": width, "height": height},
            )
            context.set_default_timeout(120_000)
            context.route(re.compile(r"^(https?|wss?)://(?!127\.0\.0\.1)"), refuse)
            try:
                yield context.pages[0]
            finally:
                context.close()
    finally:
        shutil.rmtree(profile, ignore_errors=True)


@contextlib.contextmanager
def notebook(url: str, name: str, width: int = 1280, height: int = 1000):
    """The page of one notebook, its kernel idle."""
    with browser(width, height) as page:
        open_notebook(page, url, name)
        yield page


def open_notebook(page, url: str, name: str) -> None:
    page.goto(f"{url}/lab/tree/{name}?token={TOKEN}&reset")
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
    page.wait_for_function(IDLE)


def end_kernels(url: str) -> None:
    """End every notebook's kernel, so that the next notebook has the machine to itself."""
    mine = {"Authorization": f"token {TOKEN}"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/api/sessions", headers=mine)) as reply:
        sessions = json.load(reply)
    for one in sessions:
        gone = urllib.request.Request(f"{url}/api/sessions/{one['id']}", headers=mine, method="DELETE")
        urllib.request.urlopen(gone).close()


STARTED = """() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]
    .some(cell => /[\\d*]/.test(cell.textContent))"""
# between two cells too the kernel is idle for a moment; after the last it stays so
STAYS_IDLE = f"""() => {{
    const waits = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].some(p => p.textContent.includes('*'));
    window.idleSince = !waits && ({IDLE})() ? window.idleSince ?? performance.now() : null;
    return window.idleSince !== null && performance.now() - window.idleSince > 1500;
}}"""


def put_away_a_dialog(page) -> None:
    """JupyterLab sometimes opens one on a busy machine, over the notebook; what it says is printed."""
    dialog = page.locator("dialog.jp-Dialog")
    if dialog.count():
        print("a dialog was open:", dialog.first.inner_text())
        page.keyboard.press("Escape")


def run_all(page) -> None:
    """Run every cell and wait until the kernel stays idle."""
    for _ in range(5):  # the keys go astray while the page is still settling
        put_away_a_dialog(page)
        with contextlib.suppress(Exception):
            page.locator(".jp-Cell").first.click(timeout=10_000)
        page.keyboard.press("Escape")
        page.keyboard.press("Control+a")
        page.keyboard.press("Control+Enter")
        with contextlib.suppress(Exception):
            page.wait_for_function(STARTED, timeout=6000)
            break
    page.evaluate("window.idleSince = null")
    page.wait_for_function(STAYS_IDLE, polling=100)


def handles(page) -> list:
    """The slider handles that can be seen."""
    return [h for h in page.locator(".jp-OutputArea-output .noUi-handle").all() if h.is_visible()]


ARM = """(handle) => {
  const box = handle.closest('.jp-OutputArea-output');
  window.__ms = null; window.__t = null;
  const down = e => { window.__t = e.timeStamp; window.removeEventListener('keydown', down, true); };
  window.addEventListener('keydown', down, true);
  const isPicture = n => n.tagName === 'svg' || (n.querySelector && n.querySelector('svg'));
  const seen = new MutationObserver(list => {
    if (window.__t === null || !list.some(m => [...m.addedNodes].some(isPicture))) return;
    seen.disconnect();
    requestAnimationFrame(() => { window.__ms = performance.now() - window.__t; });
  });
  seen.observe(box, {childList: true, subtree: true});
}"""


def latency(page, handle, keys: int = 20) -> list[float]:
    """Milliseconds from key press to new picture, a few steps to the right and back."""
    handle.scroll_into_view_if_needed()
    handle.focus()
    times = []
    for press in range(keys):
        handle.evaluate(ARM)
        page.keyboard.press("ArrowRight" if press % 4 < 2 else "ArrowLeft")
        with contextlib.suppress(Exception):  # at an end of the slider nothing moves
            page.wait_for_function("() => window.__ms !== null", timeout=3000, polling=20)
            times.append(page.evaluate("() => window.__ms"))
        page.wait_for_timeout(120)
    return times
