"""docs/cli describes the commands."""

import shlex
from pathlib import Path

import pytest

from gazette_cli.reference import page
from gazette_cli.reference.examples import EXAMPLES
from gazette_cli.reference.page import FOLDER, commands, pages
from gazette_cli.reference.permissions import PERMISSIONS, policy

PATHS = {path: command for group in commands().values() for path, command in group.items()}


def test_cli_pages_match_the_commands() -> None:
    assert {page.name: page.read_text() for page in FOLDER.glob("*")} == pages(), "run `make docs`"


def test_each_command_group_has_a_page() -> None:
    assert pages().keys() - {"README.md", "aws-console.md"} == {f"{name}.md" for name in commands()}


def test_index_lists_every_command_on_a_single_line() -> None:
    rows = [line for line in pages()["README.md"].splitlines() if line.startswith("| [`")]
    assert [row.split("`")[1] for row in rows] == list(PATHS)


def test_cli_docs_delete_the_page_of_a_removed_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    (tmp_path / "gone.md").write_text("# gazette gone\n")
    page.write()
    assert {each.name for each in tmp_path.iterdir()} == pages().keys()


def test_every_command_has_an_example_and_permissions() -> None:
    assert EXAMPLES.keys() == PERMISSIONS.keys() == PATHS.keys()


@pytest.mark.parametrize("path", EXAMPLES)
def test_cli_example_is_a_valid_command_line(path: str) -> None:
    words = shlex.split(EXAMPLES[path].partition(" > ")[0])
    start = 1 + len(path.split())
    assert words[:start] == ["gazette", *path.split()]
    assert PATHS[path].make_context(path, words[start:])


@pytest.mark.parametrize("path", PATHS)
def test_every_argument_and_option_has_a_help_text(path: str) -> None:
    for parameter in PATHS[path].params:
        assert parameter.name == "kind" or getattr(parameter, "help", None), parameter.name


@pytest.mark.parametrize("path", PATHS)
def test_help_text_paragraphs_have_no_hard_line_breaks(path: str) -> None:
    text = PATHS[path].help or ""
    assert text
    assert all("\n" not in paragraph for paragraph in text.split("\n\n"))


def test_resources_with_the_same_actions_share_a_policy_statement() -> None:
    granted = frozenset(
        {
            ("table/runs", "dynamodb:Query"),
            ("table/runs/index/*", "dynamodb:Query"),
            ("queue/generate-dead", "sqs:GetQueueUrl"),
        }
    )
    assert policy(granted, "test")["Statement"] == [
        {
            "Effect": "Allow",
            "Action": ["dynamodb:Query"],
            "Resource": [
                "arn:aws:dynamodb:*:*:table/GazetteDataTest-Runs*",
                "arn:aws:dynamodb:*:*:table/GazetteDataTest-Runs*/index/*",
            ],
        },
        {
            "Effect": "Allow",
            "Action": ["sqs:GetQueueUrl"],
            "Resource": ["arn:aws:sqs:*:*:gazette-test-generate-dead"],
        },
    ]
