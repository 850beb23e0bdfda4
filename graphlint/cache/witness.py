"""What was seen of files and folders, in a few words each, and whether it is still so.

A file is as it was if its times, size and inode are.  Clocks of file systems are coarse: what changed just before it was
looked at could change once more and look the same, so its look proves nothing and its content has to be compared.
"""

from __future__ import annotations

import os
import stat

from graphlint.digest import blake2b

TYPE_CHECKING = False  # as in `graphlint`: a repeated check imports next to nothing
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ABSENT = "-"
PRESENT = "+"
REPOSITORY = ".git"
SETTLED = 2_000_000_000
"""Nanoseconds after which a change shows in the times of a file, on any file system."""
DIGEST = 16


def look(path: str) -> str:
    """A file or folder as it is now; ABSENT for what is not there or may not be looked at.

    Of a repository's own folder, in which something always changes, only that it is there.
    """
    if os.path.basename(path) == REPOSITORY:
        return PRESENT if os.path.lexists(path) else ABSENT
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ABSENT
    return worded(status)


def worded(status: os.stat_result) -> str:
    """Of a folder what changes when an entry comes or goes, of a file what changes when it is written."""
    if stat.S_ISDIR(status.st_mode):
        return f"d {status.st_mtime_ns} {status.st_ino} {status.st_mode}"
    return f"f {status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"


def is_settled(seen: str, when: int) -> bool:
    """Whether what was seen at a time (in ns) had been so for long enough that a later change would show."""
    if seen in (ABSENT, PRESENT):
        return True
    times = seen.split(" ")[1:3] if seen[0] == "f" else seen.split(" ")[1:2]
    return all(int(each) + SETTLED < when for each in times)


def digest(data: bytes) -> str:
    """What tells contents apart."""
    return blake2b(data, digest_size=DIGEST).hexdigest()


def content(path: str) -> str:
    """The digest of a file as it is now; ABSENT if it cannot be read, or is one that might never end."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return ABSENT
        with open(path, "rb") as stream:
            return digest(stream.read())
    except (OSError, ValueError):
        return ABSENT


def looks(paths: Iterable[str]) -> dict[str, str]:
    """Files and folders as they are now."""
    return {path: look(path) for path in paths}


def changed(seen: Mapping[str, str]) -> Iterator[str]:
    """The paths that are no longer as they were seen."""
    return (path for path, before in seen.items() if look(path) != before)
