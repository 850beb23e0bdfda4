"""Compiled with graphs and with dynamic shapes."""

import torch


def step(x):
    return x + 1


fast = torch.compile(step, mode="reduce-overhead", dynamic=True)
