"""The steps of an acceptance in their order, and the rows of its result."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gazette.domain.errors import GazetteError


class Step(StrEnum):
    """A step of the acceptance. Each step fills one row of the result."""

    READY = "ready"
    PROFILES = "profiles"
    EVENTS = "events"
    QUARANTINE = "quarantine"
    DIGEST = "digest"
    BOUNCE = "bounce"
    COMPLAINT = "complaint"
    REDRIVE = "redrive"
    IMMEDIATE = "immediate"
    ONE_CLICK = "one-click"
    OPT_OUTS = "opt-outs"
    ERASE = "erase"


EXPECTED: Mapping[Step, str] = {
    Step.READY: "doctor finds no problem, no stream is stopped, and the daily limits have room",
    Step.PROFILES: "each synthetic reader is stored",
    Step.EVENTS: "each event waits for the next digest",
    Step.QUARANTINE: "an invalid event is in the quarantine with its reason",
    Step.DIGEST: "each reader gets one email, and a delivery event proves it",
    Step.BOUNCE: "the bounce suppresses the address",
    Step.COMPLAINT: "the complaint suppresses the address",
    Step.REDRIVE: "a redriven message of a sent email sends no second email",
    Step.IMMEDIATE: "an immediate event is sent, and a delivery event proves it",
    Step.ONE_CLICK: "opening the link changes nothing, and one click unsubscribes the reader",
    Step.OPT_OUTS: "further events for the stopped readers are not stored, so no email is sent",
    Step.ERASE: "readers are erased, and addresses are no longer suppressed",
}
"""The result that each step expects."""

REQUIRES: Mapping[Step, tuple[Step, ...]] = {
    Step.READY: (),
    Step.PROFILES: (Step.READY,),
    Step.EVENTS: (Step.PROFILES,),
    Step.QUARANTINE: (Step.PROFILES,),
    Step.DIGEST: (Step.EVENTS,),
    Step.BOUNCE: (Step.DIGEST,),
    Step.COMPLAINT: (Step.DIGEST,),
    Step.REDRIVE: (Step.DIGEST,),
    Step.IMMEDIATE: (Step.PROFILES,),
    Step.ONE_CLICK: (Step.DIGEST,),
    Step.OPT_OUTS: (Step.PROFILES,),
    Step.ERASE: (),
}
"""The steps that must run before each step."""

STOPS = (Step.BOUNCE, Step.COMPLAINT, Step.ONE_CLICK)
"""The steps that stop a reader. OPT_OUTS checks the readers whose step passed."""


def selected(only: Collection[Step]) -> list[Step]:
    """Return the steps to run in order: those in `only` and the steps that they require, or all.

    ERASE is always included.
    """
    if not only:
        return [*Step]
    chosen = {Step.ERASE, *only}
    if Step.OPT_OUTS in chosen:
        chosen.update(STOPS)
    for step in reversed(Step):
        if step in chosen:
            chosen.update(REQUIRES[step])
    return [step for step in Step if step in chosen]


class Result(StrEnum):
    """The result of a step."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_SHOWN = "not shown"
    """The step was not possible, for example because a permission is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The result of one step."""

    step: Step
    result: Result
    seen: str
    """The observed result. For a step that did not pass, the text also says what to do."""

    seconds: int

    @property
    def expected(self) -> str:
        """The result that the step expects."""
        return EXPECTED[self.step]


class Failed(GazetteError):
    """A promise that was not kept. The text is the observed result."""


class NotShown(GazetteError):
    """A step that is not possible. The text gives the reason and the remedy."""
