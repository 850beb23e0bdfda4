"""What graphlint costs beside its peers, as whole processes on named public trees: `python -m tests.benchmarks`.

No test and no limit that fails: it prints a table, and the machine that the table is of.  Trees and peers are fetched
once, by pip, into a folder below the user's cache folder; `--timm` and `--transformers` name trees that are there already.

    measure     one command as a whole process: CPU time of it and all it started, wall time, peak memory
    corpora     the trees        peers       the other tools, in an environment of their own
    floor       parsing alone    editor      a language server under the hands of an editor
    rows        the table        edits       random edits, each checked with the cache and without
"""
