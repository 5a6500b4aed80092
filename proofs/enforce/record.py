"""What functions asked of AWS while tests ran, kept in files for a judge that comes later."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pytest

from proofs.enforce.calls import Asked, asked
from proofs.enforce.verdict import Line

FOLDER = "ENFORCE_RECORD"
"""The variable with the folder in which tests leave what was asked; without it they do not."""

_OF_WORKERS = "ENFORCE_WORKERS"
_ON_THE_ENGINE = "engine.json"


def settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Those of the functions."""
    return {name: value for name, value in environment.items() if name.startswith("GAZETTE_")}


def keep(by_actor: Mapping[str, Iterable[Asked]], told: Mapping[str, str]) -> None:
    """Leave what each actor asked, who had the settings `told`, if somebody wants to know."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return
    line = {
        "told": settings(told),
        "asked": {actor: [asdict(each) for each in calls] for actor, calls in by_actor.items()},
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


@contextmanager
def recorded_workers(folder: Path) -> Iterator[None]:
    """Engines that are started inside the block leave the calls of their functions in `folder`."""
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(_OF_WORKERS, str(folder))
        patch.setenv("DEMO_WORKERS_RUN_FIRST", str(Path(__file__).with_name("in_worker.py")))
        yield


def keep_used(lines: Iterable[Line]) -> None:
    """Leave which grants were used on the embedded engine, if somebody wants to know."""
    folder = os.environ.get(FOLDER)
    if folder:
        (Path(folder) / _ON_THE_ENGINE).write_text(json.dumps(sorted(lines)))


def used_on_the_engine(folder: Path) -> set[Line]:
    """What `keep_used` left."""
    return {tuple(line) for line in json.loads((folder / _ON_THE_ENGINE).read_text())}


def called(folder: Path) -> Iterator[tuple[str, list[Asked], dict[str, str]]]:
    """The same of the functions of the embedded engine, as `in_worker` recorded it."""
    for path in sorted(folder.glob("*.calls")):
        for line in path.read_text().splitlines():
            read = json.loads(line)
            step = read["function"].rpartition("-")[2]
            yield (
                step,
                list(asked(read["service"], read["operation"], read["request"])),
                read["told"],
            )


def _asked(read: dict[str, object]) -> Asked:
    context = read.pop("context")
    assert isinstance(context, list)
    return Asked(**read, context=frozenset((key, tuple(values)) for key, values in context))  # type: ignore[arg-type]
