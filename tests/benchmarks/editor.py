"""A language server under the hands of an editor: how long from an edit until its diagnostics are there."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.measure import MIB, Cost

WARM_UP = 3
FAULT = "\n\nclass Extra(nn.Module):\n    def forward(self, x):\n        return x.sum().item()\n"


class Client:
    """As much of the protocol as it takes, over the server's stdin and stdout."""

    def __init__(self, command: Sequence[str], root: Path) -> None:
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._number = 0
        self.ask("initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": {}})
        self.tell("initialized", {})

    def tell(self, method: str, params: Mapping[str, Any], **more: object) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        assert self._server.stdin is not None
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._server.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The next message of the server."""
        stream = self._server.stdout
        assert stream is not None
        length = 0
        while line := stream.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        message: dict[str, Any] = json.loads(stream.read(length))
        return message

    def ask(self, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        self._number += 1
        self.tell(method, params or {}, id=self._number)
        while True:
            message = self.hear()
            if message.get("id") == self._number and "method" not in message:
                return message

    def diagnostics(self) -> list[Any]:
        """Wait for the next diagnostics."""
        while True:
            message = self.hear()
            if message.get("method") == "textDocument/publishDiagnostics":
                found: list[Any] = message["params"]["diagnostics"]
                return found

    def spent(self) -> float:
        """CPU seconds of the server so far; zero where the system does not tell."""
        try:
            threads = list(Path(f"/proc/{self._server.pid}/task").iterdir())
            return sum(int((each / "schedstat").read_text().split()[0]) for each in threads) / 1e9
        except OSError:
            return 0.0

    def end(self) -> float:
        """End the server; MiB that it took at most."""
        self.ask("shutdown", None)
        self.tell("exit", {})
        _, _, used = os.wait4(self._server.pid, 0)
        self._server.returncode = 0
        return used.ru_maxrss * 1024 / MIB


def edits(command: Sequence[str], root: Path, file: Path, rounds: int) -> list[Cost]:
    """Open a file and edit it again and again; the cost of each edit."""
    client = Client(command, root)
    document = {"uri": file.as_uri(), "languageId": "python", "version": 0}
    text = file.read_text()
    client.tell("textDocument/didOpen", {"textDocument": {**document, "text": text}})
    client.diagnostics()
    costs: list[Cost] = []
    for version in range(1, rounds + WARM_UP + 1):
        changes = [{"text": f"{text}{FAULT * (version % 2)}\nedited = {version}\n"}]
        before, start = client.spent(), time.perf_counter()
        client.tell("textDocument/didChange", {"textDocument": {**document, "version": version}, "contentChanges": changes})
        client.diagnostics()
        costs.append(Cost(client.spent() - before, time.perf_counter() - start, 0.0))
        time.sleep(0.1)
    peak = client.end()
    return [Cost(each.cpu, each.wall, peak) for each in costs[WARM_UP:]]
