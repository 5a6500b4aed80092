"""What a report says, however it is shown. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gazette.domain.feedback.experiment_readers import Arm, Compared
from gazette.domain.feedback.statistics import Counts, Measure, is_tracked
from gazette.steps.support.statistics import Statistics

from cli.statistics.comparisons import CONFIDENCE, Findings, compare
from cli.statistics.periods import Span
from cli.statistics.rows import UNTRACKED


@dataclass(frozen=True, slots=True)
class Answer:
    """Emails in `counts`; of an experiment or rollout also its readers, and what they show.

    `arms` and `findings` are empty where neither was asked for. `notes` are what somebody
    has to know to read the rest.
    """

    title: str
    counts: Counts
    arms: Sequence[Arm]
    findings: Findings
    notes: Sequence[str]

    @property
    def verdicts(self) -> list[str]:
        """What it shows, a line each, the outcome that decides first."""
        lines = [
            f"{outcome}: {verdict.words}"
            for outcome, verdicts in self.findings.items()
            for verdict in verdicts
        ]
        if lines or not self.arms:
            return lines
        return [f"There is one {self.arms[0].of} only: nothing to compare."]


def answer(span: Span, found: Statistics) -> Answer:
    """What was found in the slots of `span`."""
    arms = sorted(found.readers.arms(span.compared), key=lambda arm: arm.number != span.base)
    notes = [*_notes(found.counts, arms, len(found.readers.moved))]
    return Answer(span.title, found.counts, arms, compare(arms), notes)


def _notes(counts: Counts, arms: Sequence[Arm], moved: int) -> Iterator[str]:
    yield (
        "Delivered, bounced, rejected, delayed and unconfirmed are shares of the emails sent, the "
        "others of those delivered or unconfirmed. Unconfirmed: the provider accepted the email "
        "and has reported nothing since. An email counts in each category that it showed."
    )
    untracked = [measure.value for measure in Measure if not is_tracked(counts, measure)]
    if untracked:
        yield (
            f"{UNTRACKED}: not tracked: none was reported as {' or '.join(untracked)}, which a "
            "stage has to ask for (track_opens, track_clicks)."
        )
    others = len(arms) - 1
    if others > 0:
        yield (
            "Readers are compared, not emails. Each counts once, where they began. The first "
            "outcome decides: of several, one shows a difference by chance more often."
        )
    if others > 1:
        yield (
            f"Each interval is of {1 - (1 - CONFIDENCE) / others:.2%}, so that the {others} of an "
            f"outcome hold together with {CONFIDENCE:.0%} (Bonferroni)."
        )
    if moved and arms[0].of is Compared.VERSION:
        yield (
            f"The percent was changed: {moved:,} readers were sent both versions, and count in the "
            "one that they began with. Those who began before the change had longer to do "
            "anything, so what is shown may come from that: compare while the percent stays."
        )
    elif moved:
        yield (
            f"Weights were changed: {moved:,} readers were sent more than one variation. Those who "
            "began before the change had longer to do anything, so what is shown may come from "
            "that: start anew, under another name, to be sure."
        )
