"""One plan on a CUDA device, from its name to its outcome: the whole of what a child does with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from graphlint.case import Case, as_case
from graphlint.confirm import build, chance, compiled, engine, graphed, shapes, shapes_form, site, worth
from graphlint.confirm.device import Cuda, Device
from graphlint.confirm.outcome import Outcome
from graphlint.confirm.plan import Plan
from graphlint.confirm.trial import Setting

Stage = Callable[[str], object]


class Factory:
    """Builds cases; the first is one that was made already, given with the random state it left behind."""

    def __init__(self, make: Callable[[], object], made: object, left: chance.Chance, device: Device) -> None:
        self.make = make
        self.made = made
        self.left = left
        self.device = device

    def __call__(self) -> Case:
        if self.made is None:
            return as_case(self.make())
        made, self.made = self.made, None
        self.left.restore(self.device)
        return as_case(made)


def confirm(plan: Plan, stage: Stage) -> Outcome:
    """What a capture does with a target; what user code raises while it is built or warmed up is raised."""
    device = Cuda(plan.options.mode)
    stage("importing the target")
    loaded = build.load(plan)
    sizes = shapes_form.first(plan)
    make = partial(build.make, plan, loaded, "cuda", sizes)
    stage("building the case")
    chance.seed(device, plan.options.seed)
    outcome, made = site.run(plan.target, make, device.machine)
    if outcome is not None:
        device.repair()
        return outcome
    factory = Factory(make, made, chance.taken(device), device)
    setting = Setting(plan.target, factory, device, plan.options, stage)
    outcome, trial, captured = engine.confirm(setting)
    if plan.options.worth:
        stage("measuring")
        outcome = worth.added(outcome, trial, captured)
    return _sections(outcome, plan, setting, loaded)


def _sections(outcome: Outcome, plan: Plan, setting: Setting, loaded: Callable[..., object]) -> Outcome:
    """What was asked for besides; each part is measured on builds of its own."""
    sections = dict(outcome.sections)
    if plan.options.shapes:
        setting.stage("capturing buckets")
        sized = partial(build.make, plan, loaded, "cuda")
        sections["shapes"] = shapes.measured(plan, setting.device, lambda sizes: as_case(sized(sizes)))
    if plan.options.compile:
        setting.stage("compiling")
        sections["compile"] = compiled.measured(setting)
    if plan.options.graphed:
        setting.stage("making graphed callables")
        sections["graphed"] = graphed.measured(setting)
    return replace(outcome, sections=sections)
