"""What programs rely on: `--json`, exit codes, and completion, of every command."""

import json
import re
import shlex
from pathlib import Path
from typing import Any, NoReturn

import pytest
from typer.testing import CliRunner

from gazette_cli import main
from gazette_cli.main import app
from gazette_cli.reference.examples import EXAMPLES
from gazette_cli.reference.page import FOLDER, INDEX, commands
from gazette_cli.reference.shapes import SHAPES
from gazette_cli.shared import completion
from gazette_cli.shared.answers import Rows, Shown, confirm, plain
from gazette_cli.shared.commands import Command
from gazette_cli.shared.console import NotPossible, one_line_errors
from tests.shapes import check, fields_of

PATHS = {path: command for group in commands().values() for path, command in group.items()}
ROOT = Path(__file__).parents[3]
EVENT = {
    "DetailType": "event.created",
    "Source": "shop",
    "Detail": {
        "id": "e1",
        "user_id": "ann@example.com",
        "category": "comment",
        "entity": {
            "type": "post",
            "id": "p1",
            "title": "Ein schöner Titel",
            "url": "https://example.com/",
        },
        "actor": {"id": "bo", "name": "Bo"},
        "occurred_at": "2026-11-21T09:30:00Z",
    },
}
DELETION = {
    "DetailType": "subscriber.deleted",
    "Source": "shop",
    "Detail": {"user_id": "ann", "deleted_at": "2026-11-21T09:30:00Z"},
}


@pytest.mark.parametrize("path", PATHS)
def test_every_command_has_a_documented_json_shape(path: str) -> None:
    assert isinstance(PATHS[path], Command)
    assert "--json" in {name for each in PATHS[path].params for name in each.opts}
    assert path in SHAPES


def test_json_shapes_exist_only_for_existing_commands() -> None:
    assert SHAPES.keys() == PATHS.keys()


@pytest.mark.parametrize(
    ("arguments", "exits"),
    [
        (["event", "lint", "events.json"], 1),
        (["event", "preview", "events.json"], 1),
        (["event", "schemas", "schemas"], 0),
        (["preview", "--no-open", "--to", "emails"], 0),
        (["cost", "--readers", "10"], 0),
        (["init", "shop"], 0),
        (["simulate", "--readers", "10", "--service", "5"], 0),
    ],
)
def test_offline_commands_print_json_in_the_documented_shape(
    arguments: list[str], exits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("events.json").write_text(json.dumps([EVENT, DELETION, {"DetailType": "x", "Detail": {}}]))
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == exits, done.output
    path = next(each for each in PATHS if " ".join(arguments).startswith(each))
    assert check(path, done) == fields_of(path)
    assert "\x1b" not in done.stdout
    assert done.stdout.isascii()


@pytest.mark.parametrize("path", PATHS)
def test_unknown_option_is_a_usage_error_in_every_command(path: str) -> None:
    people = CliRunner().invoke(app, [*path.split(), "--no-such-option"])
    assert (people.exit_code, people.stdout) == (2, "")
    program = CliRunner().invoke(app, [*path.split(), "--json", "--no-such-option"])
    assert (program.exit_code, program.stdout) == (2, "")
    told = json.loads(program.stderr)
    assert told["exit_code"] == 2
    assert "--no-such-option" in told["error"]


def asks_aws() -> list[str]:
    ask_nothing = {"event lint", "event preview", "event schemas", "cost", "preview", "simulate"}
    ask_nothing.add("sources try")  # its example names a URL, not a stage
    return [path for path in PATHS if path not in {*ask_nothing, "init"}]


@pytest.mark.parametrize("path", asks_aws())
def test_every_command_exits_with_2_if_aws_is_unreachable(
    path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "no url")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.chdir(tmp_path)
    Path("suppressed.csv").write_text("address\nann@example.com\n")
    words = shlex.split(EXAMPLES[path].partition(" > ")[0])[1:]
    people = CliRunner().invoke(app, words)
    assert (people.exit_code, people.stdout) == (2, ""), people.output
    (line,) = people.stderr.splitlines()
    assert line.startswith("gazette: ")
    program = CliRunner().invoke(app, [*words, "--json"])
    assert (program.exit_code, program.stdout) == (2, "")
    assert json.loads(program.stderr) == {
        "error": line.removeprefix("gazette: "),
        "exit_code": 2,
    }


def test_unexpected_exception_has_a_distinct_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> NoReturn:
        raise RuntimeError("a bug")

    monkeypatch.setattr(main, "app", fail)
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == main.A_BUG
    assert "a bug" in capsys.readouterr().err


def test_index_explains_each_exit_code() -> None:
    codes = re.findall(r"^\| (\d+) \|", (FOLDER / INDEX).read_text(), re.MULTILINE)
    assert codes == ["0", "1", "2", str(main.A_BUG), "130"]


def completed(*words: str) -> set[str]:
    """What bash would offer for the last word."""
    asked = {
        "_GAZETTE_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("gazette", *words)),
        "COMP_CWORD": str(len(words)),
    }
    return {*CliRunner().invoke(app, env=asked, prog_name="gazette").stdout.split()}


def test_shell_completes_commands_and_values() -> None:
    assert completed("ba") == {"batch"}
    assert "generate-dead" in completed("dlq", "show", "gen")
    stages = json.loads((ROOT / "cdk.json").read_text())["context"]["stages"]
    assert completed("batch", "list", "--stage", "") == set(stages)


def test_slot_completion_lists_the_next_slots_first(monkeypatch: pytest.MonkeyPatch) -> None:
    slots = completion.recent_slots("20")
    assert slots == sorted(slots, reverse=True)
    assert completion.recent_slots("1") == []


def test_stage_completion_is_empty_without_cdk_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gazette_cdk.folders.project", lambda: tmp_path)
    assert completion.known_stages("") == []


def test_cell_is_text_for_people_and_a_value_in_json() -> None:
    rows = Rows("things", {"a": "A", "b": "", "c": "C"}, [(Shown(0.5, "50%"), 1, None)])
    assert rows.lines == [("50%", "-")]
    assert plain(rows.document) == [{"a": 0.5, "b": 1, "c": None}]


def test_values_without_a_json_form_are_rejected() -> None:
    thing: Any = object()
    with pytest.raises(TypeError, match="object"):
        plain(thing)


def test_json_mode_requires_yes_instead_of_prompting() -> None:
    with one_line_errors(in_json=True), pytest.raises(NotPossible, match="--yes"):
        confirm("Really?")
