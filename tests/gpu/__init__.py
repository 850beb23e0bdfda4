"""Tests and recordings that need a GPU; `python -m tests.gpu.record` writes what `tests/data/verdicts` holds."""
