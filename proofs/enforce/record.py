"""Records of the functions' calls to AWS during tests, in files for a later verdict."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import pytest

from proofs.enforce.calls import Asked, asked

FOLDER = "ENFORCE_RECORD"
"""The variable with the folder in which tests record calls. Without it they do not."""

_RECORDED = "ENFORCE_RECORDED"
"""The variable with a folder in which tests have recorded calls."""

_OF_WORKERS = "ENFORCE_WORKERS"

Told = frozenset[tuple[str, str]]
"""Settings: names and values."""


def stages_in(folder: Path) -> Path:
    """Return the folder of the stages whose policies are judged by the records in `folder`."""
    return folder / "stages"


def settings(environment: Mapping[str, str]) -> Told:
    """Return the settings of a function."""
    return frozenset(each for each in environment.items() if each[0].startswith("GAZETTE_"))


def keep(by_actor: Mapping[tuple[str, Told], Iterable[Asked]], module: Path) -> None:
    """Write each actor's calls and settings in a test of `module`, if the variable is set."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return
    with (Path(folder) / f"{module.stem}.{os.getpid()}.jsonl").open("a") as file:
        for (actor, told), calls in by_actor.items():
            line = {
                "actor": actor,
                "told": dict(sorted(told)),
                "asked": [asdict(each) for each in calls],
            }
            file.write(json.dumps(line, default=list) + "\n")


def recorded_before(folder: Path, modules: Iterable[str]) -> bool:
    """Link what `make aws` recorded of all these modules into `folder`. CI runs both: it sets
    ENFORCE_RECORDED to the folder that ENFORCE_RECORD named for `make aws`.
    """
    before = os.environ.get(_RECORDED)
    files = [[*Path(before).glob(f"{Path(each).stem}.*.jsonl")] for each in modules if before]
    if not files or not all(files):
        return False
    for file in chain(*files):
        (folder / file.name).symlink_to(file)
    return True


def kept(folder: Path) -> Iterator[tuple[str, list[Asked], dict[str, str]]]:
    """Yield each actor with its calls and settings, once for identical calls."""
    found: dict[tuple[str, Told], dict[Asked, None]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            read = json.loads(line)
            calls = found.setdefault((read["actor"], frozenset(read["told"].items())), {})
            calls.update(dict.fromkeys(map(_asked, read["asked"])))
    for (actor, told), calls in found.items():
        yield actor, [*calls], dict(told)


@contextmanager
def recorded_workers(folder: Path) -> Iterator[None]:
    """Let engines that are started inside the block record their functions' calls in `folder`."""
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(_OF_WORKERS, str(folder))
        patch.setenv("DEMO_WORKERS_RUN_FIRST", str(Path(__file__).with_name("in_worker.py")))
        yield


def called(folder: Path) -> Iterator[tuple[str, list[Asked], dict[str, str]]]:
    """Yield the calls of the embedded engine's functions, as `in_worker` recorded them."""
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
