"""Template bundles that are unpacked into temporary folders, so that a process can render from the
files.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from weakref import finalize

PREFIX = "gazette-templates-"
"""The prefix of the temporary folders' names."""


class Unpacked:
    """A folder with the files of a bundle. The folder is deleted together with this object.

    A killed process does not delete its folders, and a Lambda environment keeps `/tmp` longer than
    a process. So each folder is locked for the lifetime of its process, and each new object deletes
    the unlocked folders.
    https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        _delete_left_behind()
        self.path, lock = _locked_folder()
        finalize(self, _delete, self.path, lock)
        for name, content in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_bytes(content)


def _locked_folder() -> tuple[Path, int]:
    """Create and lock a folder. If a different process deletes the folder before it is locked,
    retry.
    """
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX))
        with suppress(FileNotFoundError):
            lock = os.open(path, os.O_RDONLY)
            flock(lock, LOCK_EX)
            if path.exists():
                return path, lock
            os.close(lock)


def _delete_left_behind() -> None:
    """Delete this user's folders whose processes have ended."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                flock(lock, LOCK_EX | LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)


def _delete(path: Path, lock: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(lock)
