"""The walk of capture sites: what is one thing, what is another, and in which order acts come."""

from __future__ import annotations

from graphlint.project import Module, Project
from graphlint.site.acts import Act, Verb
from graphlint.site.answers import site_events
from graphlint.site.roots import walks
from graphlint.site.story import story
from graphlint.site.things import Kind
from graphlint.source import parse

CAPTURE = """
import torch

def main(device):
    x = torch.zeros(4, device=device)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2
"""


RUNNER = """
import torch

class Runner:
    def __init__(self):
        self.record()

    def record(self):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.y = torch.zeros(4, device="cuda") * 2
        graph.replay()
"""


def walked(text: str) -> tuple[Module, list[list[Act]]]:
    source = parse(text, "sample.py")
    project = Project([source])
    return project.given[0], list(walks(project, project.given[0]))


def events(text: str) -> list[tuple[str, int]]:
    source = parse(text, "sample.py")
    return [(type(event).__name__, event.span.line) for _, event in site_events(source, Project([source]))]


def test_code_that_captures_nothing_is_not_walked() -> None:
    assert walked("import torch\n\ndef main(x):\n    return x + 1\n")[1] == []


def test_a_region_knows_what_it_read_and_what_it_made() -> None:
    module, (acts,) = walked(CAPTURE)
    (captured,) = story(module, acts).captures
    assert [slot.key for slot in captured.inputs] == ["x"]
    made = [act.slot.key for act in acts if act.verb is Verb.BIND and act.slot is not None and captured.made(act.thing)]
    assert made == ["y"]


def test_a_view_is_the_memory_of_its_base() -> None:
    _, (acts,) = walked(CAPTURE + "    x.view(2, 2)[0].fill_(1)\n    graph.replay()\n")
    (written,) = [act for act in acts if act.verb is Verb.WRITE]
    (first,) = {
        id(act.thing): act.thing for act in acts if act.verb is Verb.BIND and act.thing.name == "torch.zeros"
    }.values()
    assert written.thing is not first
    assert written.thing.owner is first


def test_a_loop_is_walked_twice_and_told_once() -> None:
    loop = "    for batch in torch.rand(3, 4):\n        x = batch\n        graph.replay()\n"
    assert events(CAPTURE + loop) == [("InputRebound", 10)]


def test_a_helper_is_seen_with_the_arguments_of_its_callers() -> None:
    text = CAPTURE.replace("def main(device):", "def capture(x):").replace("    x = torch.zeros(4, device=device)\n", "")
    text += "    return graph, y\n\ndef main(device):\n    x = torch.zeros(4, device=device)\n    graph, y = capture(x)\n"
    assert events(text + "    x = torch.ones(4)\n    graph.replay()\n") == [("InputRebound", 13)]
    assert events(text + "    print(y.sum())\n    graph.replay()\n") == [("OutputUnset", 13)]


def test_what_a_callee_may_skip_is_forgotten() -> None:
    fill = "class Cache:\n    x = None\n\ndef fill(cache, n):\n    if n > cache.n:\n        cache.n = n\n\n"
    used = "    cache = Cache()\n    fill(cache, 3)\n    return cache.n\n"
    module, (acts,) = walked(CAPTURE.replace("def main", f"{fill}def main") + used)
    (bound,) = [
        act for act in acts if act.verb is Verb.BIND and act.slot is not None and act.slot.key == "n" and act.is_maybe
    ]
    assert bound.thing.kind is Kind.NUMBER
    assert [act.thing.kind for act in acts if act.verb is Verb.RETURN and act.frame.caller is None] == [Kind.UNKNOWN]
    assert module.name == "sample"


def test_a_class_that_nobody_makes_is_no_call() -> None:
    _, (acts,) = walked(RUNNER)
    trails = {tuple(step.span.line for step in act.trail) for act in acts if act.name == "replay"}
    assert trails == {(), (6,)}


def test_events_come_in_one_order() -> None:
    text = CAPTURE + "    x = None\n    y.sum().item()\n    graph.replay()\n    return y\n"
    assert events(text) == events(text)


def told(text: str) -> set[str]:
    """The kinds of events of a text."""
    return {name for name, _ in events(text)}


def test_the_current_gpu_is_chosen_by_any_name() -> None:
    other = CAPTURE.replace("device=device", 'device="cuda:1"') + "    graph.replay()\n"
    assert "OtherDevice" in told(other)
    chosen = other.replace("import torch\n", "import torch\nfrom torch.cuda import device as on\n")
    assert "OtherDevice" not in told(chosen.replace("(device):\n", "(device):\n    on(1).__enter__()\n"))


def test_a_step_is_compiled_by_any_name_of_torch() -> None:
    made = "    optimizer = torch.optim.Adam(device, capturable=True)\n"
    eager = CAPTURE + made + "    graph.replay()\n    optimizer.step()  # torch.compile takes longer\n"
    assert "CapturableUnused" in told(eager)
    compiled = eager + "\nimport torch as t\nstep = t.compile(print)\n"
    assert "CapturableUnused" not in told(compiled)


def test_inference_mode_can_be_said_to_be_off() -> None:
    inside = CAPTURE.replace("    x = ", "    with torch.inference_mode():\n        x = ")
    assert "InferenceTensor" in told(inside + "    x.copy_(device)\n    graph.replay()\n")
    assert "InferenceTensor" not in told(inside.replace("mode()", "mode(mode=False)") + "    x.copy_(device)\n")


def test_a_story_finds_acts_replays_and_regions_again() -> None:
    text = CAPTURE + "".join(f"    x.copy_({place})\n    graph.replay()\n" for place in range(3))
    module, (acts,) = walked(text)
    whole = story(module, acts)
    (captured,) = whole.captures
    for first in (-1, captured.begin, captured.end, len(acts)):
        for verbs in ((Verb.METHOD,), (Verb.WRITE, Verb.BIND)):
            slow = [(at, act) for at, act in enumerate(acts) if first < at < len(acts) - 2 and act.verb in verbs]
            assert list(whole.between(first, len(acts) - 2, *verbs)) == slow
    replays = [at for at, act in enumerate(acts) if act.verb is Verb.METHOD and act.name == "replay"]
    assert len(replays) == 3
    assert [list(whole.replays(captured, at)) for at in (0, replays[0], replays[2])] == [replays, replays[1:], []]
    assert [at for at in range(len(acts)) if whole.is_captured(at)] == list(range(captured.begin, captured.end + 1))


LOCKED = """
import threading
import torch

lock = threading.Lock()

def work():
    with lock:
        torch.cuda.synchronize()

def main(device):
    x = torch.zeros(4, device=device)
    threading.Thread(target=work).start()
    graph = torch.cuda.CUDAGraph()
    with lock:
        with torch.cuda.graph(graph):
            y = x * 2
    return graph, y
"""


def test_a_lock_keeps_a_thread_out_of_a_capture() -> None:
    assert "LoaderThread" not in told(LOCKED)
    assert "LoaderThread" in told(LOCKED.replace("    with lock:\n        torch", "    if work:\n        torch"))


ORDERED = """
import torch

def main(device, flag):
    one, other = torch.nn.Linear(4, 4).to(device), torch.nn.Linear(4, 4).to(device)
    x = torch.zeros(4, 4, device=device)
    one, other = torch.cuda.make_graphed_callables((one, other), ((x,), (x,)))
    if flag:
        y = other(x)
    if not flag:
        y = one(x)
    y.sum().backward()
"""


def test_calls_on_two_sides_of_an_if_have_no_order() -> None:
    assert "GraphedOutOfOrder" in told(ORDERED)
    assert "GraphedOutOfOrder" not in told(ORDERED.replace("if not flag", "else"))


POOLED = """
import torch

def main(device):
    x = torch.zeros(4, device=device)
    one, other = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(one):
        y = x * 2
    with torch.cuda.graph(other, pool=one.pool()):
        z = x * 3
    other.replay()
    one.replay()
    return torch.add(z, 1)
"""


def test_to_look_at_a_shape_is_to_read_no_result() -> None:
    assert "OutputKept" in told(POOLED)
    assert "OutputKept" not in told(POOLED.replace("add(z, 1)", "zeros_like(z)"))


def test_weights_that_a_compiled_function_sets_itself_are_no_swap() -> None:
    inside = "    layer.weight.data = x\n"
    head = "import torch\n\nlayer = torch.nn.Linear(4, 4)\n\ndef work(x):\n"
    main = '\nstep = torch.compile(work, mode="reduce-overhead")\n\ndef main(x):\n    y = step(x).clone()\n'
    again = "    z = step(x)\n    return y, z\n"
    assert "WeightsMoved" in told(head + "    return layer(x)\n" + main + inside + again)
    assert "WeightsMoved" not in told(head + inside + "    return layer(x)\n" + main + again)


MADE = """
import torch

class Runner:
    def __init__(self, model):
        with torch.inference_mode():
            self.x = torch.zeros(4, device="cuda")
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.y = self.x * 2

    def run(self, x):
        self.x.copy_(x)
        self.graph.replay()
        return self.y.clone()
"""


def test_a_method_may_be_called_in_inference_mode() -> None:
    assert "InferenceTensor" not in told(MADE)
