"""A part without nbgrader: the notebook and its kit, copied anywhere, offline."""

import os
import shutil
import subprocess
import sys

import nbformat
import pytest

PART = "part1_split_the_batch"
RUN = """
import sys
import nbformat
from nbclient import NotebookClient
assert "nbgrader" not in sys.modules
nb = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(nb, timeout=60, kernel_name="python3", resources={"metadata": {"path": "."}}).execute()
nbformat.write(nb, sys.argv[1])
"""
NO_WEB = """
import socket
real = socket.socket.connect
def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1"):
        raise OSError(f"this test is offline: {address}")
    return real(self, address)
socket.socket.connect = connect
"""


@pytest.mark.parametrize("place", ["Downloads/my parts (copy)", "käse"])
def test_a_part_runs_from_a_folder_of_its_own(released_folder, tmp_path, place):
    folder = tmp_path / place
    folder.mkdir(parents=True)
    shutil.copyfile(released_folder / "release" / PART / f"{PART}.ipynb", folder / f"{PART}.ipynb")
    shutil.copytree(released_folder / "release" / PART / "partrain", folder / "partrain")
    offline = tmp_path / "offline"
    offline.mkdir()
    (offline / "sitecustomize.py").write_text(NO_WEB)
    env = {**os.environ, "PYTHONPATH": str(offline), "HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path / "ipython")}
    subprocess.run([sys.executable, "-c", RUN, f"{PART}.ipynb"], cwd=folder, env=env, check=True, timeout=180)

    outputs = [
        out for cell in nbformat.read(folder / f"{PART}.ipynb", as_version=4).cells for out in cell.get("outputs", [])
    ]
    assert not [out for out in outputs if out.output_type == "error" or out.get("name") == "stderr"]
    said = "".join(out.get("text", "") for out in outputs)
    assert "tokens_per_update: not answered yet." in said and "global_tokens: not started yet." in said
    assert [out for out in outputs if "image/svg+xml" in out.get("data", {})]
