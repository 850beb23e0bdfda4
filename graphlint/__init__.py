"""graphlint tells what CUDA Graph capture will do to PyTorch code, before the code runs."""

__version__ = "0.1.0"
