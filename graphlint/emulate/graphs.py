"""`torch.cuda.CUDAGraph` on the emulated device: torch's own `torch.cuda.graph` and `make_graphed_callables` run on it."""

from __future__ import annotations

from graphlint.emulate.generators import DeviceGenerator
from graphlint.emulate.session import Session
from graphlint.emulate.tape import Tape


class CaptureRefused(RuntimeError):
    """Raised where a capture ends that would have been refused."""


def checked(holds: bool, message: str) -> None:
    """What torch checks of a graph object."""
    if not holds:
        raise RuntimeError(message)


def replayed(session: Session, tape: Tape | None) -> None:
    """Run what was recorded."""
    if session.tape is not None:
        session.refuse("torch.cuda.CUDAGraph.replay", "refused")
        return
    checked(tape is not None, "Called CUDAGraph::replay without a preceding successful capture")
    if tape is not None:
        tape.replay(session.random)


def graph_class(session: Session) -> type:
    """`CUDAGraph` for one session."""

    class CUDAGraph:
        def __init__(self, keep_graph: bool = False) -> None:
            self.tape: Tape | None = None
            self.generators: list[DeviceGenerator] = []

        def capture_begin(self, pool: object = None, capture_error_mode: str = "global", **options: object) -> None:
            checked(self.tape is None, "This CUDAGraph instance already owns a captured graph")
            self.tape = session.begin()
            for each in self.generators:
                each.graphs.add(session.graph)

        def capture_end(self) -> None:
            session.end()
            if session.first is not None:
                # Real code is stopped at the first one; here all are noted, so this says which that was.
                first = f"`{session.first.op}` at {session.first.file}:{session.first.line}"
                raise CaptureRefused(f"CUDA error: operation failed due to a previous error during capture, {first}")

        def replay(self) -> None:
            replayed(session, self.tape)

        def register_generator_state(self, generator: DeviceGenerator) -> None:
            self.generators.append(generator)

        def pool(self) -> tuple[int, int]:
            if self.tape is None or self.tape is session.tape:
                session.refuse("torch.cuda.CUDAGraph.pool", "refused")
            return (0, 1)

        def reset(self) -> None:
            self.tape = None

        def instantiate(self) -> None: ...
        def enable_debug_mode(self) -> None: ...
        def debug_dump(self, path: str) -> None: ...

    return CUDAGraph
