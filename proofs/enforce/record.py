"""What functions asked of AWS while tests ran, kept in files for a judge that comes later."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from proofs.enforce.calls import Asked

FOLDER = "ENFORCE_RECORD"
"""The variable with the folder in which tests leave what was asked; without it they do not."""


def settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Those of the functions."""
    return {name: value for name, value in environment.items() if name.startswith("GAZETTE_")}


def keep(asked: Mapping[str, Iterable[Asked]], told: Mapping[str, str]) -> None:
    """Leave what each actor asked, who had the settings `told`, if somebody wants to know."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return
    line = {
        "told": settings(told),
        "asked": {actor: [asdict(each) for each in calls] for actor, calls in asked.items()},
    }
    with (Path(folder) / f"{os.getpid()}.jsonl").open("a") as file:
        file.write(json.dumps(line, default=list) + "\n")


def kept(folder: Path) -> Iterator[tuple[str, list[Asked], dict[str, str]]]:
    """Who asked, what, with which settings."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            read = json.loads(line)
            for actor, calls in read["asked"].items():
                yield actor, [_asked(each) for each in calls], read["told"]


def _asked(read: dict[str, object]) -> Asked:
    context = read.pop("context")
    assert isinstance(context, list)
    return Asked(**read, context=frozenset((key, tuple(values)) for key, values in context))  # type: ignore[arg-type]
