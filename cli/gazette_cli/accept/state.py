"""The state of an acceptance in a file, so that an interrupted acceptance can continue."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from gazette_cli.shared.console import NotPossible
from gazette_support.adapters.files import replace_json
from gazette_support.domain.acceptance.readers import (
    Role,
    SyntheticReader,
    readers_of,
)
from gazette_support.domain.acceptance.rows import STOPS, Result, Row, Step
from gazette_support.steps.acceptance.context import Work

_VERSION = 1
_ID = re.compile(r"[0-9a-f]{8}")
_STOPPED_BY = {
    Step.BOUNCE: Role.BOUNCE,
    Step.COMPLAINT: Role.COMPLAINT,
    Step.ONE_CLICK: Role.LEAVES,
}


@dataclass(slots=True, kw_only=True)
class State:
    """The progress of an acceptance."""

    path: Path
    acceptance: str
    """The id of the acceptance, which is part of its user ids, event ids and addresses."""

    stage: str
    is_ses: bool
    to: str
    """The address of an operator, or ""."""

    began_at: datetime
    due_at: datetime
    in_sandbox: bool = False
    """True if the SES account is in the sandbox."""

    rows: dict[Step, Row] = field(default_factory=dict)

    @property
    def readers(self) -> Mapping[Role, SyntheticReader]:
        """The synthetic readers."""
        return readers_of(self.acceptance, to=self.to, has_simulator=self.is_ses)

    def has_passed(self, step: Step) -> bool:
        """Return True if a step has passed before."""
        return step in self.rows and self.rows[step].result is Result.PASSED

    def work(self) -> Work:
        """Return the values for the next step."""
        return Work(
            acceptance=self.acceptance,
            readers=self.readers,
            began_at=self.began_at,
            due_at=self.due_at,
            stopped=frozenset(_STOPPED_BY[step] for step in STOPS if self.has_passed(step)),
            is_clicked_by_hand=bool(self.to),
        )

    def plan(self, due_at: datetime) -> None:
        """Move the digest to a later slot, if its events were not published in time."""
        if not self.has_passed(Step.EVENTS):
            self.rows.pop(Step.PROFILES, None)
            self.due_at = due_at

    def add(self, row: Row) -> None:
        """Store a row, and replace the file."""
        self.rows[row.step] = row
        self.save()

    def save(self) -> None:
        """Replace the file, and wait until it is on the disk. Raises NotPossible."""
        document = {
            "version": _VERSION,
            "acceptance": self.acceptance,
            "stage": self.stage,
            "is_ses": self.is_ses,
            "to": self.to,
            "began_at": self.began_at.isoformat(),
            "due_at": self.due_at.isoformat(),
            "in_sandbox": self.in_sandbox,
            "rows": [
                {
                    "step": row.step,
                    "result": row.result,
                    "seen": row.seen,
                    "seconds": row.seconds,
                }
                for row in self.rows.values()
            ],
        }
        try:
            replace_json(self.path, document)
        except OSError as err:
            raise NotPossible(f"{self.path} is not writable: {err.strerror}.") from err


def _of_this_version(content: Any) -> Any:
    if content["version"] != _VERSION:
        raise ValueError(f"its version is {content['version']}")
    if not _ID.fullmatch(content["acceptance"]):
        raise ValueError("its id is invalid")
    return content


def read_state(path: Path, *, stage: str) -> State:
    """Read the state of an acceptance of a stage. Raises NotPossible."""
    try:
        content = _of_this_version(json.loads(path.read_text()))
        rows = [
            Row(
                step=Step(each["step"]),
                result=Result(each["result"]),
                seen=str(each["seen"]),
                seconds=int(each["seconds"]),
            )
            for each in content["rows"]
        ]
        state = State(
            path=path,
            acceptance=content["acceptance"],
            stage=str(content["stage"]),
            is_ses=bool(content["is_ses"]),
            to=str(content["to"]),
            began_at=datetime.fromisoformat(content["began_at"]),
            due_at=datetime.fromisoformat(content["due_at"]),
            in_sandbox=bool(content["in_sandbox"]),
            rows={row.step: row for row in rows},
        )
    except FileNotFoundError as err:
        raise NotPossible(f"{path} does not exist. Omit --resume to begin.") from err
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as err:
        raise NotPossible(f"{path} is not the state of an acceptance ({err}).") from err
    if state.stage != stage:
        raise NotPossible(
            f"{path} is the state of an acceptance of stage {state.stage}. Specify `--stage "
            f"{state.stage}`."
        )
    return state
