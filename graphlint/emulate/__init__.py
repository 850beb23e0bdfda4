"""Capture and replay without a GPU: an emulation that is held to measurements of a real one.

world      entering it: the process believes that it has a GPU
standin    the device that C++ is told of
tensor     device tensors: wrappers over host values
functions  torch functions as user code calls them
dispatch   every operator: its place, whether a capture refuses it, its result
rows       which operator is refused under which arguments, from `aten.rows`
plan       what a schema says of an operator
tape       what a capture recorded, and its replay
streams, generators, graphs    what `torch.cuda` answers
device, run    the emulated device under the confirming engine
"""

from graphlint.emulate.run import confirm, emulate, emulate_script
from graphlint.emulate.world import emulated_cuda

__all__ = ["confirm", "emulate", "emulate_script", "emulated_cuda"]
