"""Suppressions that suppress nothing any more."""

import torch


# graphlint: region
def step(x):
    y = x.sum()  # noqa: E501
    return y.item() + 1  # graphlint: ignore[GL101] -- for the log
