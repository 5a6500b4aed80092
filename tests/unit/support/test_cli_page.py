"""docs/cli.md says what the commands do."""

import shlex

import pytest

from cli.reference.examples import EXAMPLES
from cli.reference.page import PAGE, commands, page
from cli.reference.permissions import PERMISSIONS, policy

PATHS = {path: command for group in commands().values() for path, command in group.items()}


def test_the_page_is_what_make_docs_would_write() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"


def test_every_command_has_an_example_and_permissions() -> None:
    assert EXAMPLES.keys() == PERMISSIONS.keys() == PATHS.keys()


@pytest.mark.parametrize("path", EXAMPLES)
def test_an_example_is_a_valid_command_line(path: str) -> None:
    words = shlex.split(EXAMPLES[path].partition(" > ")[0])
    start = 1 + len(path.split())
    assert words[:start] == ["gazette", *path.split()]
    assert PATHS[path].make_context(path, words[start:])


@pytest.mark.parametrize("path", PATHS)
def test_every_argument_and_option_says_what_it_means(path: str) -> None:
    for parameter in PATHS[path].params:
        assert parameter.name == "kind" or getattr(parameter, "help", None), parameter.name


@pytest.mark.parametrize("path", PATHS)
def test_each_paragraph_of_a_help_is_one_line_for_the_terminal_to_wrap(path: str) -> None:
    told = PATHS[path].help or ""
    assert told
    assert all("\n" not in paragraph for paragraph in told.split("\n\n"))


def test_resources_that_need_the_same_actions_share_a_statement() -> None:
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
