"""What a reader gets now, in short: the usual frequency, and the categories apart from it."""

from collections.abc import Mapping
from dataclasses import replace

from gazette.domain.subscribers.frequency import EVERYTHING, Frequency, frequencies
from gazette.domain.subscribers.overview import Overview, Summary
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW, a_subscriber

KINDS = ("comment", "like", "mention")
often = st.sampled_from(list(Frequency))


def overview(
    chosen: Mapping[str, str] | None = None, defaults: Mapping[str, str] | None = None
) -> Overview:
    reader = replace(a_subscriber(), choices=((NOW, frequencies(chosen or {})),))
    return Overview(subscriber=reader, now=NOW, defaults=frequencies(defaults or {}))


def test_reader_without_choices_gets_default_frequencies() -> None:
    what = overview(defaults={"mention": "immediate"})
    expected = Summary(Frequency.DAILY, ((Frequency.IMMEDIATE, ("mention",)),))
    assert what.gets(KINDS) == what.recommended(KINDS) == expected


def test_overall_choice_overrides_category_defaults() -> None:
    what = overview({EVERYTHING: "weekly"}, {"mention": "immediate"})
    assert what.gets(KINDS) == Summary(Frequency.WEEKLY)
    assert what.default_of("mention") is Frequency.WEEKLY
    assert what.recommended(KINDS).apart == ((Frequency.IMMEDIATE, ("mention",)),)


def test_summary_lists_most_frequent_first_and_never_last() -> None:
    what = overview({"like": "never", "comment": "weekly", "mention": "immediate"})
    assert [each for each, _ in what.gets((*KINDS, "reply")).apart] == [
        Frequency.IMMEDIATE,
        Frequency.WEEKLY,
        Frequency.NEVER,
    ]


def test_summary_uses_most_common_frequency_as_usual() -> None:
    what = overview(defaults=dict.fromkeys(KINDS, "weekly"))
    assert what.gets(KINDS) == Summary(Frequency.WEEKLY)


@given(chosen=st.dictionaries(st.sampled_from([*KINDS, EVERYTHING]), often))
def test_summary_shows_effective_frequency_of_each_category(chosen: dict[str, Frequency]) -> None:
    what = overview(chosen)
    summary = what.gets(KINDS)
    apart = {category: each for each, those in summary.apart for category in those}
    for category in KINDS:
        counts = chosen.get(category) or chosen.get(EVERYTHING) or Frequency.DAILY
        assert apart.get(category, summary.usual) is counts
    assert summary.usual not in apart.values()
