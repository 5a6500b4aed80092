"""The content of a report. Pure."""

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
    """The content of a report."""

    title: str

    # The numbers of emails.
    counts: Counts

    # The readers of an experiment or rollout by arm, or empty.
    arms: Sequence[Arm]

    # The comparison of the arms, or empty.
    findings: Findings

    # Explanations for readers of the report.
    notes: Sequence[str]

    @property
    def verdicts(self) -> list[str]:
        """The verdicts in one line each, the deciding outcome first."""
        lines = [
            f"{outcome}: {verdict.words}"
            for outcome, verdicts in self.findings.items()
            for verdict in verdicts
        ]
        if lines or not self.arms:
            return lines
        return [f"There is only one {self.arms[0].of}, so there is no comparison."]


def answer(span: Span, collected: Statistics) -> Answer:
    """Return the report on the slots of `span`."""
    arms = sorted(collected.readers.arms(span.compared), key=lambda arm: arm.number != span.base)
    notes = [*_notes(collected.counts, arms, len(collected.readers.moved))]
    return Answer(span.title, collected.counts, arms, compare(arms), notes)


def _notes(counts: Counts, arms: Sequence[Arm], moved: int) -> Iterator[str]:
    yield (
        "Delivered, bounced, rejected, delayed and unconfirmed are shares of the emails sent. The "
        "others are shares of the emails delivered or unconfirmed. Unconfirmed means that the "
        "provider accepted the email but has not reported its delivery. An email counts in each "
        "category that it showed."
    )
    untracked = [measure.value for measure in Measure if not is_tracked(counts, measure)]
    if untracked:
        yield (
            f"{UNTRACKED}: not tracked. A stage tracks {' and '.join(untracked)} emails only with "
            "its settings track_opens and track_clicks."
        )
    others = len(arms) - 1
    if others > 0:
        yield (
            "The comparison is of readers, not emails. Each reader counts once, in the arm where "
            "they began. Only the first outcome decides, because with several outcomes one of "
            "them is more likely to differ by chance."
        )
    if others > 1:
        yield (
            f"Each interval has a confidence of {1 - (1 - CONFIDENCE) / others:.2%}, so that the "
            f"{others} intervals of an outcome together have {CONFIDENCE:.0%} (Bonferroni)."
        )
    if moved and arms[0].of is Compared.VERSION:
        yield (
            "The percentage changed during the rollout. Readers who got both versions count in the "
            f"version that they began with ({moved:,} in total). Readers who began before the "
            "change had more time to act, which may explain a difference. For a reliable result, "
            "compare while the percentage is constant."
        )
    elif moved:
        yield (
            "The weights changed during the experiment. Readers who got more than one variation "
            f"count in the one that they began with ({moved:,} in total). Readers who began before "
            "the change had more time to act, which may explain a difference. For a reliable "
            "result, start an experiment with a new name."
        )
