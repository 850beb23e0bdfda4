"""The rules that ship with graphlint, one file a rule; the file's docstring is the rule's page.

    GL1xx   the host reads a device value
    GL2xx   shapes that depend on data
    GL3xx   copies and allocation
    GL4xx   host state that a replay does not see
    GL5xx   the capture site
    GL6xx   streams, events, collectives
    GL7xx   shape variation and pools
    GL8xx   `torch.compile` with graphs

Nothing imports this package by name: the engine finds it through the entry-point group `graphlint.rules`.
"""

if __name__ != "graphlint_rules":
    # In a checkout the folder can also be imported as `rules`; that would make a second copy of every rule.
    raise ImportError(f"the rule pack is imported as `graphlint_rules`, not as `{__name__}`; run `pip install -e .`")
