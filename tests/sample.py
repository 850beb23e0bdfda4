"""A small report with one finding of each effect, as every format is shown it."""

from __future__ import annotations

from graphlint.types import Confidence, Edit, Effect, Finding, Fix, Region, RegionReport, Report, Span, Step

LINES = {
    "src/model.py": (
        "class Model(Module):",
        "    def forward(self, x):",
        '        note = "größe 𝄞"; y = self.route(x)',
        "        self.calls += 1",
        "        return y",
    ),
    "src/route.py": ("def route(x):", "    return x[: x.max().item()]"),
}
CALL = Step(Span("src/model.py", 3, 35, 3, 48), "Model.forward")
READ = Finding(
    "GL101",
    "host-read",
    Span("src/route.py", 2, 15, 2, 29),
    "`x.max().item()` reads a device value back to the host",
    Effect.BREAKS,
    (("graph", Effect.BREAKS), ("compile", Effect.DEFEATS)),
    Confidence.CERTAIN,
    "keep it on the device",
    "model.Model.forward",
    (CALL,),
    Fix("drop the read", "unsafe", (Edit(Span("src/route.py", 2, 15, 2, 29), "x.max()"),)),
    "0123456789abcdef",
    ("model.Model.forward", "model.Other.forward"),
)
COUNTER = Finding(
    "GL404",
    "host-mutation",
    Span("src/model.py", 4, 8, 4, 23),
    "`self.calls` is a host counter that changes only at capture, never on replay",
    Effect.STALE,
    (("graph", Effect.STALE),),
    Confidence.LIKELY,
    region="model.Model.forward",
    fingerprint="fedcba9876543210",
)
BROKEN = Finding(
    "GL901",
    "unreadable-file",
    Span("src/old.py", 7, 0, 7, 0),
    "`src/old.py` does not parse as Python 3.11: invalid syntax",
    Effect.NOTE,
    (("graph", Effect.NOTE), ("compile", Effect.NOTE)),
    Confidence.CERTAIN,
    "mend it",
)
MODEL = Region("model.Model.forward", "module", Span("src/model.py", 2, 4, 5, 16))
OTHER = Region("model.Other.forward", "module", Span("src/model.py", 9, 4, 9, 16))
REPORT = Report(
    (COUNTER, BROKEN, READ),
    (
        RegionReport(MODEL, "breaks", 2, 3, (("breaks", 1), ("stale", 1))),
        RegionReport(OTHER, "clean", 0, 0),
    ),
    files=3,
    suppressed=2,
    unread=("src/old.py",),
    hidden=1,
    lines=LINES,
)
CLEAN = Report((), (RegionReport(OTHER, "clean", 0, 0),), files=1)
