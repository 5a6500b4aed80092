"""Reading and checking a file: every problem with its line, in constant memory."""

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from gazette.domain.sources import Sources

from gazette_cli.imports.checking import check_file, hash_of_file, refusals
from gazette_cli.imports.duplicates import Duplicates
from gazette_cli.imports.entries import read_entries
from gazette_cli.imports.items import Item, Kind, item_of
from tests.builders import NOW
from tests.unit.imports.files import SINCE, follow, reader, suppression, write

LONG = "x" * 1_000_001


def problems(file: Path, *, changed_at: str = "") -> list[str]:
    found: list[str] = []
    check_file(file, changed_at=changed_at, now=NOW, report=found.append)
    return found


def values(file: Path) -> list[Any]:
    return [entry.value for entry in read_entries(file)]


def test_valid_file_has_no_problem_and_is_counted(tmp_path: Path) -> None:
    file = write(tmp_path / "f", reader(1), "", follow(1), follow(1, "p2"), suppression(1))
    found: list[str] = []
    counts = check_file(file, changed_at="", now=NOW, report=found.append)
    assert not found
    assert counts.items == {Kind.SUPPRESSION: 1, Kind.SUBSCRIBER: 1, Kind.FOLLOW: 2}
    assert sum(counts.sizes.values()) == file.stat().st_size


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (reader(1, email="nobody"), "line 1: subscriber.email: must be one email address"),
        (reader(1, time_zone="Mars/Olympus"), "line 1: subscriber.time_zone: "),
        (reader(1, active_on="soon"), "line 1: subscriber.active_on: "),
        (reader(1, more=1), "line 1: subscriber.more: unknown field; check the spelling"),
        (reader(1, changed_at="2099-01-01T00:00:00Z"), "line 1: subscriber: 2099-01-01"),
        ({"subscriber": 7}, "line 1: subscriber: must be an object"),
        (follow(1, frequency="hourly"), "line 1: follow.frequency: "),
        ({"follow": {}}, "line 1: follow.user_id: Field required"),
        (suppression(1, reason="odd"), "line 1: suppression: reason is 'odd'; it must be one of"),
        (suppression(1, since="soon"), "line 1: suppression: 'soon' is not a date. Specify a date"),
        (suppression(1, more="x"), "line 1: suppression: more: unknown field; check the spelling"),
        (suppression(1, since=7), "line 1: suppression: since: must be text"),
        (suppression(1, hash="0" * 64), "line 1: suppression: specify either address or hash"),
        ({"suppression": {"hash": "12"}}, "line 1: suppression: '12' is neither an address"),
        ({"event": {}}, "line 1: must be an object with one of the fields suppression, subscriber"),
        ({**reader(1), **follow(1)}, "line 1: must be an object with one of the fields"),
        ("7", "line 1: must be an object with one of the fields"),
        ("{", "line 1: is "),
        ("[" * 100_000, "line 1: is nested too deeply"),
        (LONG, "line 1: is longer than 1,000,000 bytes. Remove some data"),
    ],
)
def test_problem_names_line_and_field(tmp_path: Path, line: object, problem: str) -> None:
    (found, *_) = problems(write(tmp_path / "f", line))
    assert found.startswith(problem)


def test_every_problem_of_a_file_is_reported(tmp_path: Path) -> None:
    file = write(tmp_path / "f", reader(1, email=""), reader(2), LONG, {"follow": {}}, reader(2))
    lines = [found.partition(":")[0] for found in problems(file)]
    assert lines == ["line 1", "line 3", *["line 4"] * 3, "line 5"]


def test_text_that_is_not_utf_8_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"\xff\n" + write(tmp_path / "g", reader(1)).read_bytes())
    assert problems(file) == ["line 1: is not text in UTF-8. Convert the file to UTF-8"]


def test_repeated_item_is_reported_with_its_first_line(tmp_path: Path) -> None:
    file = write(
        tmp_path / "f",
        *(reader(1), follow(1), follow(1, "p2"), suppression(1)),
        *(reader(1, name="Other"), follow(1, frequency="never"), suppression(1)),
    )
    assert sorted(problems(file)) == [
        "line 5: repeats line 1. Remove one of them",
        "line 6: repeats line 2. Remove one of them",
        "line 7: repeats line 4. Remove one of them",
    ]


def test_missing_changed_at_is_taken_from_the_option(tmp_path: Path) -> None:
    line = reader(1)
    del line["subscriber"]["changed_at"]
    file = write(tmp_path / "f", line, follow(1))
    assert problems(file) == ["line 1: subscriber.changed_at: Field required"]
    assert problems(file, changed_at=SINCE) == []
    assert problems(file, changed_at="soon")


def test_csv_has_dotted_columns_and_empty_cells(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text(
        "\ufeffsubscriber.user_id,subscriber.name,subscriber.digest.hour,"
        "subscriber.digest.custom.days,subscriber.frequencies.like,follow.user_id\r\n"
        'ann,"Ann\nB., ""x""",7,monday friday,never,\r\n'
        "\r\n"
        ",,,,,bo\r\n"
    )
    assert values(file) == [
        {
            "subscriber": {
                "user_id": "ann",
                "name": 'Ann\nB., "x"',
                "digest": {"hour": 7, "custom": {"days": ["monday", "friday"]}},
                "frequencies": {"like": "never"},
            }
        },
        {"follow": {"user_id": "bo"}},
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,a\n1,2\n", "line 1: has a column twice. Remove one of them"),
        ("a.b.c,a\n1,2\n", "line 1: has the column a, and columns inside it. Remove one of them"),
        ("a,b\n1\n", "line 2: has 1 cells, but the header line has 2 columns"),
        ('a,b\n"1,2\n', "line 2: is not CSV (unexpected end of data)"),
        ("a,b\n1,2\n", "line 2: must be an object with one of the fields"),
    ],
)
def test_invalid_csv_is_reported(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "f.csv"
    file.write_text(text)
    (found,) = problems(file)
    assert found.startswith(problem)


@pytest.mark.parametrize("name", ["f.ndjson", "f.CSV"])
def test_reading_continues_behind_any_entry(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    if name.endswith("CSV"):
        rows = (f'reader{each},"ä\n{each}"\n' for each in range(5))
        file.write_text("subscriber.user_id,subscriber.name\n" + "".join(rows), encoding="utf-8")
    else:
        write(file, *(reader(each, name=f"ä{each}") for each in range(5)))
    whole = list(read_entries(file))
    assert len(whole) == 5
    for number, entry in enumerate(whole):
        assert list(read_entries(file, entry.after)) == whole[number + 1 :]


def test_source_that_the_stage_does_not_list_is_refused(tmp_path: Path) -> None:
    counts = check_file(write(tmp_path / "f", reader(1)), changed_at="", now=NOW, report=print)
    listed = Sources.of({"subscriber.changed": ["shop"], "follow.created": ["shop"]})
    (reason,) = refusals(listed, "gazette.import", counts)
    assert "subscriber.changed" in reason
    assert list(refusals(listed, "shop", counts)) == []


def test_hash_of_file_depends_on_every_byte(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", reader(1)), write(tmp_path / "b", reader(2))
    assert hash_of_file(first) == hash_of_file(write(tmp_path / "c", reader(1)))
    assert hash_of_file(first) != hash_of_file(second)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(number: int) -> int:
        file = write(tmp_path / str(number), *(follow(each) for each in range(number)))
        tracemalloc.start()
        try:
            counts = check_file(file, changed_at="", now=NOW, report=print)
            assert counts.items[Kind.FOLLOW] == number
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)  # what is loaded once
    assert peak(4000) < peak(400) + 100_000


def test_many_keys_are_compared_in_parts() -> None:
    with Duplicates() as duplicates:
        for number in range(5000):
            duplicates.add(f"key{number % 4990}", number)
        assert sorted(duplicates.found()) == [(4990 + each, each) for each in range(10)]


def test_key_of_a_suppression_ignores_case(tmp_path: Path) -> None:
    file = write(tmp_path / "f", {"suppression": {"address": "Ann@x.org"}})
    (entry,) = read_entries(file)
    item = item_of(entry, changed_at="")
    assert isinstance(item, Item)
    assert item.key == "suppression ann@x.org"
