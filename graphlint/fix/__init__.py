"""Fixes: findings become edits of the source, and only edits that were seen to work are offered.

    splice     edits of bytes, so that everything outside an edit stays as it is
    cells      edits of notebooks, inside the strings that hold the code
    tree       a file as a concrete syntax tree, found again by the span of a finding
    cures/     from one finding to a fix, one module a kind of fault
    names      what a file reads and nothing defines
    trial      apply, parse, check again: the finding is gone and no other came
    marks      suppressions for what is to be accepted

Only this package imports libcst, and it is imported only when something is to be written.
"""
