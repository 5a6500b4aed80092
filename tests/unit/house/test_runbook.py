"""The runbook's commands can be told, and each that changes something is looked at after it runs.

`make e2e` runs them (tests/runbook).
"""

import re
from pathlib import Path

import pytest

from gazette_cli.shared.next_commands import PUT_BACK, PUT_BACK_PAGE
from tests.runbook.pages import PAGES, ROOT, WrongPage, commands
from tests.runbook.scenarios import SCENARIOS, has_its_test

PASTED = [*PAGES, *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*.md"))]
"""Pages whose blocks somebody pastes into a shell, on Linux or macOS."""

_BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)

_NOT_EVERYWHERE = re.compile(
    r"\bdate [^|;)]*(-d\b|--date|-v)"  # GNU's, or BSD's
    r"|\bin \$\w"  # zsh does not split a variable into words
    r"|\b(sed [^|;]*-i|grep [^|;]*-P|readlink -f|xargs -[a-z]*r|base64 -[wd]|timeout \d)"
    r"|\[\[ |<\(|\$\{\w+\[|\b(mapfile|read -p)\b"  # of one shell, or with another meaning
)

PAGE = """# A page

Run `gazette explain USER`, or
`gazette dlq
show failed`.

```sh
name=ann            # for the lines below
gazette explain $name \\
  2026-11-21        # that date
```

On AWS only: there is one. [Why](https://docs.aws.amazon.com/x.html)

```sh
make deploy
```

   ```sh
   gazette dlq list
   ```
"""


def told(folder: Path, text: str) -> list[tuple[int, str, str, bool]]:
    page = folder / "page.md"
    page.write_text(text)
    return [(each.line, each.given, each.bare, bool(each.why_not)) for each in commands(page)]


def test_commands_are_extracted_from_blocks_and_text_with_line_numbers(
    tmp_path: Path,
) -> None:
    given = "name=ann            # for the lines below\n"
    assert told(tmp_path, PAGE) == [
        (3, "", "gazette explain ann", False),
        (4, "", "gazette dlq show failed", False),
        (9, given, "gazette explain $name 2026-11-21", False),
        (16, "", "make deploy", True),
        (20, "", "gazette dlq list", False),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# A\n\nOn AWS only: never.\n\n```sh\nx\n```\n", "needs its reason and a page of AWS"),
        ("# A\n\nOn AWS only: see [it](https://example.com).\n", "needs its reason and a page"),
        ("# A\n\n`gazette explain WHO`\n", "page.md:3: nobody knows what WHO is here"),
        ("# A\n\n```sh\ngazette dlq list\n", "ends within a block"),
    ],
)
def test_page_with_unparsable_commands_is_reported(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(WrongPage, match=problem):
        told(tmp_path, text)


def test_every_modifying_command_has_a_scenario() -> None:
    assert [
        str(command)
        for page in PAGES
        for command in commands(page)
        if not (command.why_not or has_its_test(command.bare))
    ] == []


def test_modifying_command_is_not_classified_as_read_only() -> None:
    for command in (
        "gazette dlq redrive all",
        "gazette rollback 1a",
        "aws sqs delete-queue",
        "rm x",
    ):
        assert not has_its_test(command), command


def test_every_scenario_belongs_to_a_documented_command() -> None:
    printed = {command.bare for page in PAGES for command in commands(page)}
    assert [
        command
        for command in SCENARIOS
        if command not in printed
        and not (command.startswith("aws ") and any(command in each for each in printed))
    ] == []


@pytest.mark.parametrize("page", PASTED, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_blocks_work_in_every_shell_and_system(page: Path) -> None:
    blocks = _BLOCK.findall(page.read_text())
    assert [found[0] for block in blocks for found in _NOT_EVERYWHERE.finditer(block)] == []


@pytest.mark.parametrize(
    "line",
    [
        "date -u -d '1 hour ago' +%FT%TZ",
        "date -v-1H",
        "for each in $names; do echo; done",
        "sed -i s/a/b/ file",
        "echo | xargs -r rm",
        "[[ -n $name ]]",
        "diff <(a) <(b)",
    ],
)
def test_nonportable_shell_line_is_detected(line: str) -> None:
    assert _NOT_EVERYWHERE.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "date -u +%FT%TZ",
        "$(( $(date +%s) - 3600 ))000",
        'for each in $(echo "$names"); do',
        "ls -d",
    ],
)
def test_portable_shell_line_is_accepted(line: str) -> None:
    assert not _NOT_EVERYWHERE.search(line)


def test_docs_and_doctor_never_recommend_plain_redeployment() -> None:
    """CloudFormation compares template with template: what somebody deleted stays away."""
    advised = re.compile(r"deploy\s+(it\s+|the\s+stage\s+)?again", re.IGNORECASE)
    told = [*PAGES, *(ROOT / "cli" / "gazette_cli" / "doctor").glob("*.py")]
    assert [each.name for each in told if advised.search(each.read_text())] == []
    naming = [each.name for each in PAGES if PUT_BACK in each.read_text()]
    assert len(naming) == 7
    assert Path(PUT_BACK_PAGE).name in naming


def test_make_deploy_reverts_drift_only_on_request() -> None:
    line = next(
        each for each in (ROOT / "Makefile").read_text().splitlines() if "cdk deploy --all" in each
    )
    (told,) = re.findall(r"\$\(if \$\(REVERT_DRIFT\),(--[\w-]+)\)", line)
    assert f"npx cdk deploy --all {told}" == PUT_BACK
    cdk = (ROOT / "node_modules" / "aws-cdk" / "lib" / "index.js").read_text()
    assert f'revertDrift: "{told}"' in cdk, "an option of the pinned CDK"
