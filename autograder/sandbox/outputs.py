"""From a kernel's messages to a cell's outputs, as JupyterLab keeps them.

The messages come from a process that ran student code: what is not of the stated form is left out, never trusted.
nbclient does the same with a validation of every output against the notebook schema, which costs more than the cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nbformat import NotebookNode, from_dict

STREAMS = ("stdout", "stderr")


def outputs_of(messages: Any) -> list[NotebookNode]:
    """The outputs that these messages leave in a cell."""
    outputs = _Outputs()
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and isinstance(message.get("content"), dict):
            take = getattr(outputs, f"take_{message.get('msg_type')}", None)
            if take:
                take(message["content"])
    return outputs.kept


class _Outputs:
    def __init__(self):
        self.kept: list[NotebookNode] = []
        self._named: dict[str, list[NotebookNode]] = {}  # display id -> outputs shown under it
        self._clear = False

    def take_stream(self, content: dict) -> None:
        if content.get("name") in STREAMS and isinstance(content.get("text"), str):
            self._keep({"output_type": "stream", "name": content["name"], "text": content["text"]})

    def take_display_data(self, content: dict) -> None:
        self._show(content, {"output_type": "display_data"})

    def take_execute_result(self, content: dict) -> None:
        count = content.get("execution_count")
        self._show(content, {"output_type": "execute_result", "execution_count": count if type(count) is int else None})

    def take_update_display_data(self, content: dict) -> None:
        shown = _bundle(content)
        for output in self._named.get(_display_id(content), ()) if shown else ():
            output.update(from_dict(shown))

    def take_error(self, content: dict) -> None:
        lines = content.get("traceback")
        texts = content.get("ename"), content.get("evalue")
        if _are_texts(texts) and isinstance(lines, list) and _are_texts(lines):
            self._keep({"output_type": "error", "ename": texts[0], "evalue": texts[1], "traceback": lines})

    def take_clear_output(self, content: dict) -> None:
        if content.get("wait"):
            self._clear = True
        else:
            self._empty()

    def _show(self, content: dict, kind: dict) -> None:
        shown = _bundle(content)
        if shown:
            output = self._keep({**kind, **shown})
            if name := _display_id(content):
                self._named.setdefault(name, []).append(output)

    def _keep(self, output: dict) -> NotebookNode:
        if self._clear:
            self._empty()
        self.kept.append(from_dict(output))
        return self.kept[-1]

    def _empty(self) -> None:
        self.kept.clear()
        self._named.clear()
        self._clear = False


def _bundle(content: dict) -> dict | None:
    data, metadata = content.get("data"), content.get("metadata")
    if not isinstance(data, dict) or not isinstance(metadata, dict):
        return None
    json_ones = {kind for kind in data if kind == "application/json" or kind.endswith("+json")}
    if not all(isinstance(value, str) for kind, value in data.items() if kind not in json_ones):
        return None
    return {"data": data, "metadata": metadata}


def _display_id(content: dict) -> str:
    transient = content.get("transient")
    name = transient.get("display_id") if isinstance(transient, dict) else None
    return name if isinstance(name, str) else ""


def _are_texts(values: Iterable) -> bool:
    return all(isinstance(value, str) for value in values)
