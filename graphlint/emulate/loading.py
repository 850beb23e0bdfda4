"""`torch.load` on the emulated device: files are read on the host, and what belongs on the device is moved there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map

from graphlint.emulate.standin import STANDIN, on_device
from graphlint.emulate.tensor import storage_key


def load_with(read: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.load` over the real one."""

    def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        moved: set[int] = set()

        def place(storage: torch.UntypedStorage, location: str) -> torch.UntypedStorage:
            if on_device(_target(map_location, storage, location)):
                moved.add(storage._cdata)
            return storage

        return _on_device(read(f, place, *args, **kwargs), moved)

    return load


def _target(map_location: Any, storage: torch.UntypedStorage, location: str) -> object:
    """Where a storage that was saved at `location` should go."""
    if map_location is None:
        return location
    if isinstance(map_location, dict):
        return map_location.get(location, location)
    return location if callable(map_location) else map_location


def _on_device(loaded: Any, moved: set[int]) -> Any:
    if isinstance(loaded, torch.nn.Module):
        places = {storage_key(each) in moved for each in loaded.state_dict().values()}
        return loaded.to(STANDIN) if True in places else loaded
    return tree_map(lambda each: _moved(each, moved), loaded)


def _moved(value: Any, moved: set[int]) -> Any:
    return value.to(STANDIN) if isinstance(value, torch.Tensor) and storage_key(value) in moved else value
