"""What a table of figures was measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def described() -> str:
    """Processor, number of cores that may be used, interpreter, and how busy the machine is otherwise."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{_processor()}, {cores} core{'s' * (cores != 1)}, {platform.system()}, {python}{load}"


def _processor() -> str:
    try:
        rows = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [row.partition(":")[2].strip() for row in rows if row.startswith("model name")]
    return names[0] if names else platform.machine()
