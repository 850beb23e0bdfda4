"""What `graphlint check` says of threads beside a capture, and of swapped weights, is what a GPU did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphlint.site.thread_acts import TABLE
from graphlint.types import Confidence
from tests.conftest import CheckText

RECORD = Path(__file__).parent / "data" / "threads_h200.jsonl"
MODES = ("global", "thread_local")
RECORDS = [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()[1:]]

ACTS = {
    "nothing": "pass",
    "launch": "x * 2",
    "launch_side": "with torch.cuda.stream(side): x * 2",
    "device_sync": "torch.cuda.synchronize()",
    "item": "x.sum().item()",
    "item_side": "with torch.cuda.stream(side): x.sum().item()",
    "to_cpu": "x.cpu()",
    "copy_in": "x.copy_(host)",
    "copy_in_pinned": "x.copy_(host, non_blocking=True)",
    "upload": "host.cuda()",
    "big_alloc": "torch.empty(1 << 28, device='cuda')",
    "pin": "host.pin_memory()",
    "replay": "other.replay()",
    "replay_side": "with torch.cuda.stream(side): other.replay()",
    "event_sync": "event.synchronize()",
    "event_query": "event.query()",
    "stream_sync": "side.synchronize()",
    "stream_query": "side.query()",
    "current_stream_sync": "torch.cuda.current_stream().synchronize()",
    "empty_cache": "torch.cuda.empty_cache()",
    "capture": "with torch.cuda.graph(other): x * 3",
    "capture_local": "with torch.cuda.graph(other, capture_error_mode='thread_local'): x * 3",
    "raw_begin": "other.capture_begin(); x * 3; other.capture_end()",
    "raw_begin_local": "other.capture_begin(capture_error_mode='thread_local'); x * 3; other.capture_end()",
}
BESIDE = """\
import threading
import torch

def work(x, host, side, event, other):
    {act}

def main(model, static, x, host, side, event, other):
    threading.Thread(target=work, args=(x, host, side, event, other)).start()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="{mode}"):
        y = model(static)
    return graph, y
"""

STARTS = {
    "threads": "for each in items: threading.Thread(target=capture, args=(each,)).start()",
    "pool": "ThreadPoolExecutor(4).map(capture, items)",
    "gpus": "for each in range(2): threading.Thread(target=on_gpu, args=(each,)).start()",
}
TOGETHER = """\
import threading
from concurrent.futures import ThreadPoolExecutor
import torch

def capture(x):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="{mode}"):
        y = x * 2
    graph.replay()
    return graph, y

def on_gpu(number):
    torch.cuda.set_device(number)
    capture(torch.ones(4, device=f"cuda:{{number}}"))

def main(items):
    {start}
"""

SWAPS = {
    "nothing": ["pass"],
    "data": ["model.weight.data = torch.randn(64, 64, device='cuda')"],
    "data_of_itself": ["model.weight.data = model.weight.data * 0.5"],
    "data_to_same": ["model.weight.data = model.weight.data.to('cuda')"],
    "assign": ["model.load_state_dict(state, assign=True)"],
    "load": ["model.load_state_dict(state)"],
    "copy": ["model.weight.data.copy_(torch.randn(64, 64, device='cuda'))"],
    "parameter": ["model.weight = torch.nn.Parameter(torch.randn(64, 64, device='cuda'))"],
    "module_to_and_back": ["model.to('cpu')", "model.to('cuda')"],
    "half_then_float": ["model.half()", "model.float()"],
}
CHANCE = {"data_to_cpu_and_back"}
"""Swaps after which the allocator gave one weight the address that it had; of a module with two it did not."""
SWAPPED = """\
import torch

def main(state, x):
    model = torch.nn.Linear(64, 64, device="cuda").requires_grad_(False)
    run = torch.compile(model, mode="reduce-overhead")
    run(x)
    for _ in range(6):
        {swap}
        run(x)
"""


def asked(key: str) -> list[dict[str, Any]]:
    return [record for record in RECORDS if key in record]


def is_told(check_text: CheckText, text: str, code: str) -> bool:
    found = [each for each in check_text(text).findings if each.code == code]
    return any(each.confidence > Confidence.POSSIBLE for each in found)


def test_every_answer_is_asked_of_graphlint() -> None:
    assert {each["act"] for each in asked("act")} == set(ACTS)
    assert {each["together"] for each in asked("together")} == set(STARTS)
    assert {each["swap"] for each in asked("swap")} == set(SWAPS) | CHANCE


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.act}-{min(row.names)}")
def test_rows_are_what_was_measured(row: Any) -> None:
    answer = next(each for each in asked("act") if each["act"] == row.act)
    assert row.refused == tuple(mode for mode in MODES if answer[mode] == "refused")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("answer", asked("act"), ids=lambda each: str(each["act"]))
def test_acts_of_a_thread_beside_a_capture(check_text: CheckText, answer: dict[str, str], mode: str) -> None:
    text = BESIDE.format(act=ACTS[answer["act"]], mode=mode)
    assert is_told(check_text, text, "GL523") is (answer[mode] == "refused")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("answer", asked("together"), ids=lambda each: str(each["together"]))
def test_captures_at_the_same_time(check_text: CheckText, answer: dict[str, str], mode: str) -> None:
    text = TOGETHER.format(start=STARTS[answer["together"]], mode=mode)
    assert is_told(check_text, text, "GL523") is (answer[mode] != "fine")
    assert not is_told(check_text, text, "GL708"), "each thread captures for itself"


@pytest.mark.parametrize(
    "answer", [each for each in asked("swap") if each["swap"] in SWAPS], ids=lambda each: str(each["swap"])
)
def test_swaps_of_weights_of_compiled_code(check_text: CheckText, answer: dict[str, Any]) -> None:
    text = SWAPPED.format(swap="\n        ".join(SWAPS[answer["swap"]]))
    assert is_told(check_text, text, "GL512") is (max(answer["graphs"]) > 1)
