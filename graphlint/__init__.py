"""graphlint tells what CUDA Graph capture will do to PyTorch code, before the code runs."""

from graphlint.case import Case

__all__ = ["Case"]
__version__ = "0.1.0"
