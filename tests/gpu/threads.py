"""Record what threads may do beside a capture, and which swaps of weights make compiled code record its graphs again.

    python -m tests.gpu.threads              needs two GPUs        -> tests/data/threads_h200.jsonl

Every question has a process of its own, as a refused capture leaves more behind than its error.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from torch import nn

DATA = Path(__file__).parents[1] / "data"
MODES = ("global", "thread_local")
LONGEST = 150.0


class Kit:
    """What the acts work on, made and warmed up before anything is captured."""

    def __init__(self) -> None:
        self.x = torch.ones(1 << 16, device="cuda")
        self.host = torch.ones(1 << 16)
        self.pinned = torch.ones(1 << 16).pin_memory()
        self.side: torch.cuda.Stream = torch.cuda.Stream()
        self.event = torch.cuda.Event()
        self.event.record()
        self.static = torch.ones(1 << 16, device="cuda")
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(torch.cuda.Stream()):
            self.static * 2
        torch.cuda.synchronize()
        with torch.cuda.graph(self.graph):
            self.out = self.static * 2
        self.kept: list[torch.Tensor] = []

    def launch(self) -> None:
        self.x * 2

    def read(self) -> None:
        self.x.sum().item()

    def on_side(self, act: Callable[[], object]) -> None:
        with torch.cuda.stream(self.side):
            act()

    def capture(self, mode: str = "global") -> None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode=mode):
            self.kept.append(self.x * 3)

    def raw_capture(self, mode: str = "global") -> None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(self.side):
            graph.capture_begin(capture_error_mode=mode)
            self.kept.append(self.x * 3)
            graph.capture_end()


ACTS: dict[str, Callable[[Kit], object]] = {
    "nothing": lambda kit: None,
    "launch": Kit.launch,
    "launch_side": lambda kit: kit.on_side(kit.launch),
    "device_sync": lambda kit: torch.cuda.synchronize(),
    "item": Kit.read,
    "item_side": lambda kit: kit.on_side(kit.read),
    "to_cpu": lambda kit: kit.x.cpu(),
    "copy_in": lambda kit: kit.static.copy_(kit.host),
    "copy_in_pinned": lambda kit: kit.static.copy_(kit.pinned, non_blocking=True),
    "upload": lambda kit: kit.host.cuda(),
    "big_alloc": lambda kit: kit.kept.append(torch.empty(1 << 28, device="cuda")),
    "pin": lambda kit: kit.kept.append(torch.ones(1 << 22).pin_memory()),
    "replay": lambda kit: kit.graph.replay(),
    "replay_side": lambda kit: kit.on_side(kit.graph.replay),
    "event_sync": lambda kit: kit.event.synchronize(),
    "event_query": lambda kit: kit.event.query(),
    "stream_sync": lambda kit: kit.side.synchronize(),
    "stream_query": lambda kit: kit.side.query(),
    "current_stream_sync": lambda kit: torch.cuda.current_stream().synchronize(),
    "empty_cache": lambda kit: torch.cuda.empty_cache(),
    "capture": Kit.capture,
    "capture_local": lambda kit: kit.capture("thread_local"),
    "raw_begin": Kit.raw_capture,
    "raw_begin_local": lambda kit: kit.raw_capture("thread_local"),
}
"""What a thread does while another one captures."""


def beside(act: str, mode: str) -> str:
    """Whether a capture of a mode comes to its end and gives the right result with the act in another thread."""
    kit, inside, done, errors = Kit(), threading.Event(), threading.Event(), list[BaseException]()

    def work() -> None:
        inside.wait(10)
        try:
            ACTS[act](kit)
        except BaseException as error:
            errors.append(error)
        done.set()

    threading.Thread(target=work, daemon=True).start()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, capture_error_mode=mode):
            y = kit.static * 5
            inside.set()
            done.wait(6)
            z = y + 1
        graph.replay()
        torch.cuda.synchronize()
    except Exception:
        return "refused"
    return "fine" if not errors and float(z[0]) == 6.0 else "refused"


def together(how: str, mode: str) -> str:
    """Whether four threads that capture twenty graphs each, at the same time, come to their end; two on two `gpus`."""
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            torch.cuda.set_device(number if how == "gpus" else 0)
            with torch.cuda.stream(torch.cuda.Stream()):
                x = torch.full((1 << 12,), float(number), device="cuda")
                for _ in range(20):
                    graph = torch.cuda.CUDAGraph()
                    with torch.cuda.graph(graph, capture_error_mode=mode):
                        x * 2
                    graph.replay()
        except BaseException as error:
            errors.append(error)

    if how == "pool":
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
    else:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(2 if how == "gpus" else 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return "refused" if errors else "fine"


TOGETHER = ("threads", "pool", "gpus")


def fresh() -> torch.Tensor:
    return torch.randn(64, 64, device="cuda")


def _halved(model: nn.Sequential) -> None:
    model.half()
    model.float()


def _there_and_back(model: nn.Sequential) -> None:
    model.to("cpu")
    model.to("cuda")


def _weight(model: nn.Sequential, value: Callable[[torch.Tensor], torch.Tensor]) -> None:
    weight = next(model.parameters())
    weight.data = value(weight.data)


def _offloaded(model: nn.Sequential) -> None:
    _weight(model, lambda old: old.to("cpu"))
    _weight(model, lambda old: old.to("cuda"))


def _copied(model: nn.Sequential, assign: bool) -> None:
    model.load_state_dict({name: value.clone() for name, value in model.state_dict().items()}, assign=assign)
    model.requires_grad_(False)


SWAPS: dict[str, Callable[[nn.Sequential], object]] = {
    "nothing": lambda model: None,
    "data": lambda model: _weight(model, lambda old: fresh()),
    "data_of_itself": lambda model: _weight(model, lambda old: old * 0.5),
    "data_to_same": lambda model: _weight(model, lambda old: old.to("cuda")),
    "data_to_cpu_and_back": _offloaded,
    "assign": lambda model: _copied(model, True),
    "load": lambda model: _copied(model, False),
    "copy": lambda model: next(model.parameters()).data.copy_(fresh()),
    "parameter": lambda model: setattr(model[0], "weight", nn.Parameter(fresh(), requires_grad=False)),
    "module_to_and_back": _there_and_back,
    "half_then_float": _halved,
}
"""What is done to the weights of a compiled module between its calls."""


def swapped(swap: str, mode: str) -> list[int]:
    """How many graphs are recorded after the first calls, and after each of six rounds of a swap and two calls."""
    layers = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64)).cuda().requires_grad_(False)
    run = torch.compile(layers, mode="reduce-overhead")
    x = torch.randn(8, 64, device="cuda")

    def called(times: int) -> int:
        for _ in range(times):
            torch.compiler.cudagraph_mark_step_begin()
            run(x)
        return _recorded()

    with torch.no_grad():
        counts = [called(4)]
        for _ in range(6):
            SWAPS[swap](layers)
            counts.append(called(2))
    return counts


def _recorded() -> int:
    from torch._inductor.cudagraph_trees import get_container

    manager = get_container(0).tree_manager
    return -1 if manager is None else int(repr(manager.graph_counter).strip("count()"))


def answered(ask: Callable[[str, str], Any], subject: str, mode: str) -> Any:
    """What a process of its own answers; "hung" if it takes too long, or dies."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(ask, subject, mode, sender), daemon=True)
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(LONGEST) else "hung"
    except EOFError:
        return "hung"
    finally:
        process.kill()


def _answer(ask: Callable[[str, str], Any], subject: str, mode: str, sender: Connection) -> None:
    sender.send(ask(subject, mode))


def records() -> Iterator[dict[str, Any]]:
    """What the machine is, then every answer."""
    yield {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "recorded": time.strftime("%Y-%m-%d")}
    for act in ACTS:
        yield {"act": act} | {mode: answered(beside, act, mode) for mode in MODES}
    for how in TOGETHER:
        yield {"together": how} | {mode: answered(together, how, mode) for mode in MODES}
    for swap in SWAPS:
        yield {"swap": swap, "graphs": answered(swapped, swap, "")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=DATA / "threads_h200.jsonl")
    with parser.parse_args().to.open("w", encoding="utf-8") as out:
        for record in records():
            print(json.dumps(record), file=out, flush=True)


if __name__ == "__main__":
    main()
