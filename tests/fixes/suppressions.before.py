"""Suppressions that suppress nothing any more."""

import torch


# graphlint: region
def step(x):
    # graphlint: ignore[GL101] -- was read once
    y = x.sum()  # noqa: E501, GL102
    return y.item() + 1  # graphlint: ignore[GL101, host-cast] -- for the log
