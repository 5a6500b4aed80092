"""The content of a statistics report. No I/O."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gazette_cli.statistics.comparisons import CONFIDENCE, Findings, compare
from gazette_cli.statistics.periods import Span
from gazette_cli.statistics.rows import UNTRACKED
from gazette_support.domain.experiment_readers import Arm, Compared
from gazette_support.domain.statistics import Counts, Measure, is_tracked
from gazette_support.steps.statistics import Statistics


@dataclass(frozen=True, slots=True)
class Answer:
    """The content of a statistics report."""

    title: str

    # The numbers of emails.
    counts: Counts

    # The readers of an experiment or rollout by arm. Empty for other reports.
    arms: Sequence[Arm]

    # The comparison of the arms. Empty for other reports.
    findings: Findings

    # Explanations for readers of the report.
    notes: Sequence[str]

    @property
    def verdicts(self) -> list[str]:
        """The verdicts, one line each, with the deciding outcome first."""
        lines = [
            f"{outcome}: {verdict.words}"
            for outcome, verdicts in self.findings.items()
            for verdict in verdicts
        ]
        if lines or not self.arms:
            return lines
        return [f"There is only one {self.arms[0].of}, so there is no comparison."]


def answer(span: Span, collected: Statistics) -> Answer:
    """Return the report for the slots of `span`."""
    arms = sorted(collected.readers.arms(span.compared), key=lambda arm: arm.number != span.base)
    notes = [*_notes(collected.counts, arms, len(collected.readers.moved))]
    return Answer(span.title, collected.counts, arms, compare(arms), notes)


def _notes(counts: Counts, arms: Sequence[Arm], moved: int) -> Iterator[str]:
    yield (
        "Delivered, bounced, rejected, delayed and unconfirmed are shares of the emails sent. "
        "Other outcomes are shares of the emails delivered or unconfirmed. Unconfirmed means "
        "that the provider accepted the email but has not reported its delivery. An email "
        "counts in each category that it contained."
    )
    untracked = [measure.value for measure in Measure if not is_tracked(counts, measure)]
    if untracked:
        yield (
            f"{UNTRACKED}: not tracked. A stage tracks {' and '.join(untracked)} emails only if "
            "track_opens and track_clicks are set."
        )
    others = len(arms) - 1
    if others > 0:
        yield (
            "The comparison counts readers, not emails. Each reader counts once, in the arm in "
            "which they started. Only the first outcome decides, because the more outcomes are "
            "compared, the more likely a difference by chance becomes."
        )
    if others > 1:
        yield (
            f"Each interval has a confidence level of {1 - (1 - CONFIDENCE) / others:.2%}, so "
            f"that the {others} intervals of an outcome together have a level of "
            f"{CONFIDENCE:.0%} (Bonferroni)."
        )
    if moved and arms[0].of is Compared.VERSION:
        yield (
            "The percentage changed during the rollout. Readers who got both versions count in "
            f"the version that they got first ({moved:,} in total). Readers who started before "
            "the change had more time to act, which may explain a difference. For a reliable "
            "result, compare while the percentage is constant."
        )
    elif moved:
        yield (
            "The weights changed during the experiment. Readers who got more than one variation "
            f"count in the variation that they got first ({moved:,} in total). Readers who "
            "started before the change had more time to act, which may explain a difference. "
            "For a reliable result, start an experiment with a new name."
        )
