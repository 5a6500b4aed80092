"""The pages for people: links lead somewhere, commands exist, and the README is short."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import typer
from gazette.adapters.contract.schemas import DataSchema
from gazette.domain.sources import DETAIL_TYPES, FEEDBACK, PREFERENCES

from gazette_cli.main import app
from tests.e2e.conftest import WORKERS

ROOT = Path(__file__).parents[3]
TOPS = (ROOT, ROOT / "layers/gazette/python/gazette")
FOLDERS = ("demo", "docs", "proofs", "templates", "tests")
PAGES = sorted(
    {*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))}
)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
FENCE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
CODE = re.compile(rf"{FENCE.pattern}|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def links(page: Path) -> Iterator[str]:
    """Links into the project, without those in code."""
    for found in LINK.finditer(FENCE.sub("", page.read_text())):
        link = found.group(1) or found.group(2)
        if not re.match(r"[a-z]+:", link):
            yield link


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ +(.+)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def broken(page: Path) -> Iterator[str]:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists():
            yield f"{link}: no such file"
        elif anchor and anchor not in anchors(target):
            yield f"{link}: no such heading"


def commands(told: str) -> set[str]:
    """The commands that code on a page names, such as `gazette dlq show`, without arguments."""
    code = "\n".join(found.group(0) for found in CODE.finditer(told))
    return {" ".join(words.split()) for words in re.findall(r"\bgazette((?: [a-z][a-z-]+)+)", code)}


@cache
def groups() -> dict[str, set[str]]:
    """The commands of `gazette`, and those below each."""
    root = typer.main.get_command(app)
    return {
        name: set(getattr(each, "commands", ())) for name, each in vars(root)["commands"].items()
    }


def wrong_commands(told: str) -> list[str]:
    """Commands that there are not, alone or in their group."""
    wrong = []
    for command in sorted(commands(told)):
        first, *rest = command.split()
        below = groups().get(first)
        if below is None or (below and rest and rest[0] not in below):
            wrong.append(f"gazette {command}")
    return wrong


def wrong_targets(told: str) -> list[str]:
    """Targets that code on a page makes, and the Makefile does not have."""
    known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    code = "\n".join(found.group(0) for found in CODE.finditer(told))
    return sorted(set(re.findall(r"(?<![\w-])make ([a-z]+)\b", code)) - known)


def lost_paths(told: str) -> list[str]:
    """Modules that code on a page names, and that there are not."""
    named = set(
        re.findall(r"`(?!build/)((?:[\w-]+/)+[\w-]+\.(?:py|md|json|in))(?::[\w.]+)?`", told)
    )
    return sorted(path for path in named if not any((top / path).exists() for top in TOPS))


def test_every_link_points_to_existing_file_and_heading() -> None:
    assert [(name(page), link) for page in PAGES for link in broken(page)] == []


def test_every_documented_command_exists() -> None:
    told = {name(page): page.read_text() for page in PAGES}
    assert {page: wrong_commands(text) for page, text in told.items() if wrong_commands(text)} == {}
    assert {page: wrong_targets(text) for page, text in told.items() if wrong_targets(text)} == {}


SEEDED_BY = {
    "bench": "proofs/test_bench.py",
    "demo": "proofs/test_bench.py",
    "setup": ".ci/run",
    "synth": "proofs/test_commands.py",
    "test": ".ci/run",
    "aws": ".ci/run",
    "browser": ".ci/run",
}
"""Where CI runs a target of the README, if not in the folder of proofs with the same name."""


def test_ci_runs_every_target_named_in_readme() -> None:
    code = "\n".join(found.group(0) for found in CODE.finditer((ROOT / "README.md").read_text()))
    targets = set(re.findall(r"(?<![\w-])make ([a-z]+)\b", code))
    assert targets >= {"demo", "test", "bench"}
    seeded = {path.parent.name for path in (ROOT / "proofs").glob("*/test_*.py")} | {"simulate"}
    assert targets - seeded - SEEDED_BY.keys() == set()
    assert [path for path in SEEDED_BY.values() if not (ROOT / path).is_file()] == []
    run = (ROOT / ".ci/run").read_text()
    in_ci = set(re.findall(r"^ *timed (?:timeout [-=\w ]+ )?make ([a-z0-9]+)\b", run, re.MULTILINE))
    in_ci |= set(re.findall(r"^ *make ([a-z0-9]+)\b", run, re.MULTILINE))
    assert {"test", "aws", "check", "seeds", "browser", "e2e"} <= in_ci


def test_ci_knows_lambda_python_version() -> None:
    found = re.search(r"^lambda=(\S+)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert found
    assert (
        f'LAMBDA = Target(python="{found[1]}",'
        in (ROOT / "infra/gazette_cdk/assets/layers.py").read_text()
    )


def test_each_deployed_test_folder_has_one_worker() -> None:
    (recipe,) = re.findall(
        r'^e2e:.*\n\t.*-m "e2e[^"]*" (.*)$', (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    paths = (ROOT / path for path in recipe.split())
    folders = {name(path if path.is_dir() else path.parent) for path in paths}
    named = [ROOT / path for worker in WORKERS for path in worker]
    assert sorted(folders) == sorted(name(path) for path in named if path.is_dir())
    assert all(path.exists() for path in named)


def test_every_file_named_on_a_page_exists() -> None:
    told = {name(page): lost_paths(page.read_text()) for page in PAGES}
    assert {page: paths for page, paths in told.items() if paths} == {}


def test_broken_link_and_invalid_command_are_detected(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One page\n[a](#one-page) [b](#two) [c](gone.md)\n`gazette no` `make no`\n")
    assert list(broken(page)) == ["#two: no such heading", "gone.md: no such file"]
    assert wrong_commands("`gazette nothing` `gazette dlq nothing`") == [
        "gazette dlq nothing",
        "gazette nothing",
    ]
    assert wrong_targets("`make nothing`") == ["nothing"]
    assert lost_paths("`steps/nothing.py` `steps/routing/route.py`") == ["steps/nothing.py"]


def test_each_page_starts_with_its_audience_or_question() -> None:
    first = {name(page): page.read_text().splitlines()[2] for page in (ROOT / "docs").glob("*.md")}
    assert [
        page
        for page, line in first.items()
        if not line.startswith(("Audience: ", "For ", "This page"))
    ] == []


def test_json_examples_on_events_page_are_valid() -> None:
    told = (ROOT / "docs" / "events" / "README.md").read_text()
    *policies, schema = re.findall(r"^```json\n(.+?)^```", told, re.MULTILINE | re.DOTALL)
    (example,) = json.loads(schema)["examples"]
    assert not list(DataSchema(json.loads(schema)).problems(example))
    statements = [each for policy in policies for each in json.loads(policy)["Statement"]]
    assert len(statements) == 2
    for statement in statements:
        assert (statement["Effect"], statement["Action"]) == ("Allow", "events:PutEvents")
        condition = statement["Condition"]
        assert condition["Null"] == {"events:source": "false"}, "ForAllValues holds without any"
        (source,) = condition["ForAllValues:StringEquals"]["events:source"]
        assert source not in {PREFERENCES, FEEDBACK}
        assert set(condition["StringEquals"]["events:detail-type"]) <= set(DETAIL_TYPES)


def test_docs_do_not_claim_profile_updates_resume_dormant_readers() -> None:
    """The code keeps them dormant (test_profile_from_a_service_resumes_no_reader)."""
    wrong = re.compile(r"profile update or sign of life|sign of life or profile update")
    assert [name(page) for page in PAGES if wrong.search(" ".join(page.read_text().split()))] == []


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 200


def test_decision_index_lists_each_record_once_in_order() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(
        r"^\| \[(\d+)\]\((.+?)\) \| .+ \|$", (folder / "README.md").read_text(), re.MULTILINE
    )
    records = sorted(path.name for path in folder.glob("0*.md"))
    assert [file for _, file in listed] == records
    assert [number for number, _ in listed] == [str(int(file[:4])) for file in records]


def test_runbook_index_links_to_each_page() -> None:
    folder = ROOT / "docs" / "runbook"
    listed = {link.partition("#")[0] for link in links(folder / "README.md")}
    assert {page.name for page in folder.glob("*.md")} - {"README.md"} <= listed
