"""Plain English: no file has a finding, and each habit is detected where it is planted."""

import re
from pathlib import Path

import pytest

from tests.unit.house.english import check
from tests.unit.house.english.habits import HABITS, Habit
from tests.unit.house.english.texts import DOCSTRINGS, Kind, Text, read

_EXAMPLES = [(habit, bad, good) for habit in HABITS for bad, good in habit.examples.items()]

_MODULE = '''"""What a module has."""

class Table:
    """Reads rows."""

    size = 1
    """How many rows."""

    @property
    def rows(self):
        """The rows. Nobody counts them."""

def rows(found):
    """The rows.

    Besides, they are sorted: nobody sorts them twice.
    """
    found = f"the row {found} is no row of ours"  # somebody else's
    # A comment of two lines
    # that ends with nobody.
    raise KeyError("What is missing in the table was deleted.")

OPTION = Option("--pages", help=f"How many pages it reads, of {LIMIT}.")
ALARM = (
    "Rows are missing. "
    "Nobody reads them."
)
'''

_PAGE = """# Whoever reads this

For whoever reads
this page.

- A list item: it is a clause. And `nobody, it says` or "somebody" counts.
  [nothing lost](besides/nobody.md)

| who | what |
| --- | --- |
| nobody | somebody |

```sh
echo nobody
```
"""


def _text(content: str, kind: Kind, *, path: str = "cli/gazette_cli/x.py") -> Text:
    return Text(path, kind, content, ((0, 1),))


def _kind(habit: Habit) -> Kind:
    """Return the kind of text in which the examples of a habit are searched."""
    if Kind.PARAGRAPH in habit.kinds:
        return Kind.PARAGRAPH
    return Kind.MODULE if habit.kinds >= DOCSTRINGS else min(habit.kinds)


def _names(text: Text) -> set[str]:
    return {finding.habit.name for finding in check.in_text(text)}


def _lines(path: Path) -> list[tuple[int, str]]:
    findings = [each for text in read(path, "cli/gazette_cli/x") for each in check.in_text(text)]
    return sorted((each.line, each.habit.name) for each in findings)


def test_no_file_has_a_finding() -> None:
    findings = [str(finding) for finding in check.findings(check.files())]
    assert findings == [], "see `python -m tests.unit.house.english --habits`"


def test_test_names_state_the_behaviour() -> None:
    """A name with such a word describes a riddle: it names neither an actor nor an act."""
    riddle = re.compile(r"^test_.*(?:^|_)(?:nobody|somebody|whoever|whatever)(?:_|$)")
    names = {
        name
        for path in (check.ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^ *def (test_\w+)", path.read_text(), re.MULTILINE)
    }
    assert len(names) > 1_000
    assert sorted(filter(riddle.match, names)) == []


@pytest.mark.parametrize(("habit", "bad", "good"), _EXAMPLES)
def test_planted_example_is_detected(habit: Habit, bad: str, good: str) -> None:
    assert habit.name in _names(_text(bad, _kind(habit)))


@pytest.mark.parametrize(("habit", "bad", "good"), _EXAMPLES)
def test_recommended_rewrite_has_no_findings(habit: Habit, bad: str, good: str) -> None:
    assert _names(_text(good, _kind(habit))) == set()


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.name)
def test_advice_texts_follow_their_own_rules(habit: Habit) -> None:
    for advice in (habit.why, habit.instead):
        assert _names(_text(advice.replace("`", '"'), Kind.COMMENT)) <= {habit.name}


@pytest.mark.parametrize(
    "sentence",
    [
        "The command does nothing if there is nothing to send.",
        "There is no schedule, and there will be no email.",
        "The queue is no longer empty.",
        "Readers who opted out get no email.",
        "Print who changed the row and what happened.",
        "Three runs failed, two of which were retried.",
        "It ranks a list of three: likes, comments and mentions.",
        "`none`: it is the default.",
        "The worker waits for it.",
        "What does it cost?",
        "What to do: look at the log.",
    ],
)
def test_plain_english_has_no_findings(sentence: str) -> None:
    assert _names(_text(sentence, Kind.PARAGRAPH)) == set()


@pytest.mark.parametrize(
    "docstring",
    [
        "Return the rows.",
        "One conditional PutItem.",
        "Store the run, and raise Conflict if a newer one is stored.",
    ],
)
def test_plain_function_docstring_has_no_findings(docstring: str) -> None:
    assert _names(_text(docstring, Kind.FUNCTION)) == set()


def test_findings_in_module_are_reported_with_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(_MODULE)
    assert _lines(path) == [
        (1, "question-word"),
        (4, "class-noun"),
        (7, "question-word"),
        (11, "nobody-nothing-somebody"),
        (14, "function-verb"),
        (16, "beside"),
        (16, "joining-colon"),
        (16, "nobody-nothing-somebody"),
        (18, "is-no"),
        (18, "nobody-nothing-somebody"),
        (18, "participle-name"),
        (20, "nobody-nothing-somebody"),
        (21, "what-is"),
        (23, "question-word"),
        (25, "nobody-nothing-somebody"),
    ]


def test_code_quotes_and_link_targets_are_not_checked(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(_PAGE)
    assert _lines(path) == [
        (1, "who-subject"),
        (3, "for-whoever"),
        (3, "who-subject"),
        (7, "nobody-nothing-somebody"),
        (11, "nobody-nothing-somebody"),
        (11, "nobody-nothing-somebody"),
    ]


def test_makefile_comments_and_help_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "Makefile"
    path.write_text("# Nobody runs it.\nall: setup ## Build all beside the tests\n\t@echo nobody\n")
    assert _lines(path) == [(1, "nobody-nothing-somebody"), (2, "beside")]


def test_variable_names_are_checked_only_in_shipped_code() -> None:
    assert _names(_text("found", Kind.NAME)) == {"participle-name"}
    assert _names(_text("found", Kind.NAME, path="proofs/x.py")) == set()


def test_names_of_stored_attributes_keep_their_spelling(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("class Row:\n    left = Attribute()\n    found = Attribute()\n\nleft = 1\n")
    assert _lines(path) == [(3, "participle-name"), (5, "participle-name")]


def test_every_prose_file_is_checked() -> None:
    names = {str(path.relative_to(check.ROOT)) for path in check.files()}
    assert names >= {
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "docs/protocol.md",
        "docs/runbook/README.md",
        "proofs/README.md",
        "producer/gazette_events.py",
        "functions/ingest/handler.py",
        "layers/gazette/python/gazette/domain/delivery/lifecycle.py",
        "infra/gazette_cdk/stage/readers.py",
        "cli/gazette_cli/main.py",
        "demo/campus.py",
        "benchmarks/linear.py",
    }
    assert not any(name.startswith("docs/decisions/00") for name in names)
