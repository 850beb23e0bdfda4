"""The tests; `python -m pytest` runs all that this machine can."""
