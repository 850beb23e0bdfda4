"""Room for frames: results and errors pass through, and deep calls stay in the chunk that is there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from graphlint.frames import with_room


def depth(left: int) -> int:
    return 0 if left == 0 else 1 + depth(left - 1)


def mapped() -> int:
    """Bytes of address space in use."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * 4096


def test_what_is_computed_comes_back() -> None:
    assert with_room(lambda: depth(500)) == 500


def test_an_error_passes() -> None:
    with pytest.raises(ZeroDivisionError):
        with_room(lambda: 1 // 0)


def mapped_at(left: int) -> int:
    return mapped() if left == 0 else mapped_at(left - 1)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="frames are objects of their own before Python 3.11")
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell its memory this way")
def test_deep_calls_map_no_memory() -> None:
    def grown() -> int:
        return mapped_at(800) - mapped_at(0)

    assert grown() > 0
    assert with_room(grown) == 0
