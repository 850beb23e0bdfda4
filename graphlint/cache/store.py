"""Files in the cache folder: written whole or not at all, and believed only if their checksum holds.

Several runs may share a folder: each writes beside and then renames, so a reader finds an old file or a new one.
"""

from __future__ import annotations

import os
import time

from graphlint.digest import blake2b

TYPE_CHECKING = False  # as in `graphlint`: a repeated check imports next to nothing
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

MAGIC = b"graphlint cache 1\n"
DIGEST = 16
MOST = 256 << 20
"""Bytes that the files of a folder may have together; those that were not used for longest go first."""
LEFTOVER = 3600.0
"""Seconds after which a file that somebody began to write and never finished is removed."""
TAG = "CACHEDIR.TAG"
TAG_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of graphlint; it may be removed.\n"
ENDINGS = (".printed", ".tree", ".rows")
PARTIAL = ".partial"


def name(words: Sequence[str], ending: str) -> str:
    """The name of the file about some words, none of which may hold a NUL character."""
    return blake2b("\0".join(words).encode(errors="surrogatepass"), digest_size=DIGEST).hexdigest() + ending


def read(folder: str, file: str) -> bytes | None:
    """What was written under a name; None for what is not there, or not as it was written."""
    path = os.path.join(folder, file)
    try:
        with open(path, "rb") as stream:
            head = stream.read(len(MAGIC) + DIGEST)
            body = stream.read()
    except OSError:
        return None
    if head != MAGIC + _digest((body,)):
        return None
    _used(path)
    return body


def part(folder: str, file: str, start: int, length: int) -> bytes:
    """Some bytes of a file, as they are: nothing of it is compared; raises `ValueError` for a file that is not there."""
    try:
        with open(os.path.join(folder, file), "rb") as stream:
            stream.seek(len(MAGIC) + DIGEST + start)
            return stream.read(length)
    except OSError:
        raise ValueError(f"`{file}` cannot be read") from None


def remove(folder: str, file: str) -> None:
    """Remove a file that turned out to be wrong."""
    _remove(os.path.join(folder, file))


def size(folder: str, file: str) -> int:
    """The bytes of a file; none if it is not there."""
    try:
        return os.path.getsize(os.path.join(folder, file))
    except OSError:
        return 0


def sweep(folder: str, prefix: str, kept: Collection[str]) -> None:
    """Remove what nobody can still be reading, of the files whose names begin in some way; note the use of the others."""
    now = time.time()
    for path, status in _files(folder):
        name = os.path.basename(path)
        if name in kept:
            _used(path)
        elif name.startswith(prefix) and now - status.st_mtime > LEFTOVER:
            _remove(path)


def write(folder: str, file: str, *parts: bytes) -> bool:
    """Put a file, given in parts, in the place of the one that was there; whether that could be done."""
    path = os.path.join(folder, file)
    beside = f"{path}.{os.getpid()}.{time.monotonic_ns():x}{PARTIAL}"
    try:
        _prepare(folder)
        with open(beside, "xb") as stream:
            stream.write(MAGIC + _digest(parts))
            stream.writelines(parts)
        os.replace(beside, path)
    except OSError:
        _remove(beside)
        return False
    _trim(folder, file)
    return True


def refusal(folder: str) -> str:
    """Why nothing can be kept in a folder; empty if it can."""
    try:
        _prepare(folder)
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return "" if os.access(folder, os.W_OK | os.X_OK) else "permission denied"


def clean(folder: str) -> int:
    """Remove everything that was written here, and the folder if nothing else is in it; the number of files."""
    found = [path for path, _ in _files(folder)]
    for path in found:
        _remove(path)
    if _quietly(os.listdir, folder) == [TAG]:
        _remove(os.path.join(folder, TAG))
        _quietly(os.rmdir, folder)
    return len(found)


def _digest(parts: Iterable[bytes]) -> bytes:
    found = blake2b(digest_size=DIGEST)
    for each in parts:
        found.update(each)
    return found.digest()


def _prepare(folder: str) -> None:
    os.makedirs(folder, exist_ok=True)
    tag = os.path.join(folder, TAG)
    if not os.path.exists(tag):
        with open(tag, "w", encoding="utf-8") as stream:
            stream.write(TAG_TEXT)


def _used(path: str) -> None:
    """Note the time of use, on which depends what goes first."""
    _quietly(os.utime, path)


def _trim(folder: str, fresh: str) -> None:
    """Remove what nobody finished, and of the rest what is too much."""
    now = time.time()
    kept: list[tuple[float, int, str]] = []
    for path, status in _files(folder):
        if path.endswith(PARTIAL):
            if now - status.st_mtime > LEFTOVER:
                _remove(path)
        elif os.path.basename(path) != fresh:
            kept.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in kept)
    for _, size, path in sorted(kept):
        if total <= MOST:
            break
        _remove(path)
        total -= size


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The files of a folder that can only be ours."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for each in names:
        if each.endswith((*ENDINGS, PARTIAL)):
            path = os.path.join(folder, each)
            try:
                yield path, os.stat(path)
            except OSError:
                continue


def _remove(path: str) -> None:
    _quietly(os.unlink, path)


def _quietly(do: Callable[[str], object], path: str) -> object:
    """What doing something with a path gives; None where that cannot be done."""
    try:
        return do(path)
    except OSError:
        return None
