"""graphlint tells what CUDA Graph capture will do to PyTorch code, before the code runs."""

from __future__ import annotations

TYPE_CHECKING = False  # as `typing` has it, which takes longer to import than a repeated check may take
if TYPE_CHECKING:
    from graphlint.case import Case

__all__ = ["Case"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """`Case` is imported when somebody asks for it: the command line never does."""
    if name == "Case":
        from graphlint.case import Case

        return Case
    raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
