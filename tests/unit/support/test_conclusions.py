"""The conclusion of an experiment: who wins, and by how much."""

import pytest
from gazette.adapters.console.style import Tone

from gazette_cli.statistics.comparisons import Findings, Verdict
from gazette_cli.statistics.conclusions import conclusion
from gazette_cli.statistics.summary import Answer
from gazette_support.domain.experiment_readers import Arm
from gazette_support.domain.statistics import Measure

ARMS = [Arm(number, 1000, dict.fromkeys(Measure, 0)) for number in (1, 2, 3)]
Bounds = tuple[float, float]


def verdicts(outcome: Measure, *bounds: Bounds) -> list[Verdict]:
    return [
        Verdict(outcome, ARMS[0], arm, low / 100, high / 100)
        for arm, (low, high) in zip(ARMS[1:], bounds, strict=False)
    ]


def answer(findings: Findings, arms: int = 3) -> Answer:
    return Answer("An experiment", {}, ARMS[:arms], findings, ())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bounds", "text", "tone"),
    [
        ([(1.2, 3.9)], "Variation 2 wins: +1.2 to +3.9 points", Tone.GOOD),
        ([(1.2, 3.9), (-1.7, 1.0)], "Variation 2 wins: +1.2 to +3.9 points", Tone.GOOD),
        (
            [(1.2, 3.9), (-1.7, 1.5)],
            "Variation 2 beats variation 1: +1.2 to +3.9 points",
            Tone.GOOD,
        ),
        ([(1.2, 3.9), (4.0, 5.0)], "Variation 3 wins: +4.0 to +5.0 points", Tone.GOOD),
        ([(1.2, 3.9), (1.3, 5.0)], "Variations 2 and 3 beat variation 1", Tone.GOOD),
        ([(-1.0, 0.5)], "No winner yet: −1.0 to +0.5 points", Tone.NEUTRAL),
        ([(-1.0, 0.5), (-3.0, -2.0)], "No winner yet", Tone.NEUTRAL),
        (
            [(-3.9, -1.2)],
            "Variation 1 wins over variation 2, which has −3.9 to −1.2 points",
            Tone.GOOD,
        ),
        ([(-3.9, -1.2), (-3.0, -2.0)], "Variation 1 wins", Tone.GOOD),
    ],
)
def test_conclusion_names_the_winner(bounds: list[Bounds], text: str, tone: Tone) -> None:
    found = conclusion(answer({Measure.CLICKED: verdicts(Measure.CLICKED, *bounds)}))
    assert found
    assert (found.text, found.tone) == (text, tone)
    assert found.details[0] == (
        "Share of readers clicked, in percentage points compared with variation 1, with a "
        "confidence of 95%."
    )


def test_fewer_readers_who_unsubscribe_are_a_win() -> None:
    found = conclusion(answer({Measure.UNSUBSCRIBED: verdicts(Measure.UNSUBSCRIBED, (-0.5, -0.1))}))
    assert found
    assert found.text == "Variation 2 wins: −0.5 to −0.1 points"


def test_winner_with_more_complaints_causes_a_caution() -> None:
    findings = {
        Measure.CLICKED: verdicts(Measure.CLICKED, (1.2, 3.9), (-1.7, 1.0)),
        Measure.COMPLAINED: verdicts(Measure.COMPLAINED, (0.1, 0.2), (0.3, 0.4)),
    }
    found = conclusion(answer(findings))
    assert found
    assert found.tone is Tone.NEUTRAL
    assert found.details[1:] == (
        (
            "Caution: variation 2 compared with 1: 0.1 to 0.2 percentage points more readers "
            "complained."
        ),
    )


def test_report_without_a_comparison_has_no_winner() -> None:
    assert conclusion(answer({}, arms=0)) is None
    found = conclusion(answer({Measure.CLICKED: []}, arms=1))
    assert found
    assert found.text == "There is only one variation, so there is no comparison."
