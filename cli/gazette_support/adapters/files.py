"""Files that an interrupted command continues from."""

import json
import os
from collections.abc import Mapping
from pathlib import Path


def replace_json(path: Path, document: Mapping[str, object]) -> None:
    """Replace a JSON file, and wait until it is on the disk. Raises OSError.

    The file has either its former or its new content, even if the process is killed.
    """
    new = path.with_name(f"{path.name}.new")
    with new.open("w") as file:
        json.dump(document, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
