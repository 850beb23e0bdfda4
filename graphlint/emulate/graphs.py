"""`torch.cuda.CUDAGraph` on the emulated device: torch's own `torch.cuda.graph` and `make_graphed_callables` run on it."""

from __future__ import annotations

from graphlint.emulate.generators import DeviceGenerator
from graphlint.emulate.session import Session
from graphlint.emulate.tape import Tape


class CaptureRefused(RuntimeError):
    """Raised where a capture ends that would have been refused."""


def graph_class(session: Session) -> type:
    """`CUDAGraph` for one session."""

    class CUDAGraph:
        def __init__(self, keep_graph: bool = False) -> None:
            self.tape: Tape | None = None
            self.generators: list[DeviceGenerator] = []
            self.refused = 0

        def capture_begin(self, pool: object = None, capture_error_mode: str = "global", **options: object) -> None:
            if self.tape is not None:
                raise RuntimeError("This CUDAGraph instance already owns a captured graph")
            self.refused = len(session.refusals)
            self.tape = session.begin()
            for each in self.generators:
                each.graphs.add(session.graph)

        def capture_end(self) -> None:
            session.end()
            if len(session.refusals) > self.refused:
                raise CaptureRefused("CUDA error: operation failed due to a previous error during capture")

        def replay(self) -> None:
            if session.tape is not None:
                session.refuse("torch.cuda.CUDAGraph.replay", "refused")
            elif self.tape is None:
                raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture")
            else:
                self.tape.replay(session.random)

        def register_generator_state(self, generator: DeviceGenerator) -> None:
            self.generators.append(generator)

        def pool(self) -> tuple[int, int]:
            return (0, 1)

        def reset(self) -> None:
            self.tape = None

        def instantiate(self) -> None: ...
        def enable_debug_mode(self) -> None: ...
        def debug_dump(self, path: str) -> None: ...

    return CUDAGraph
