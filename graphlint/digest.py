"""`blake2b` without the rest of `hashlib`, which loads OpenSSL: that takes longer than all that is hashed here."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b"]
