"""A script, `python -m tests.configuration_page`, that generates docs/configuration.md."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from datetime import timedelta
from inspect import getsource
from itertools import pairwise
from pathlib import Path
from typing import Any, get_origin

from gazette.settings.ranges import DURATIONS, MINUTE, SECOND, as_written

from gazette_cdk.stage import Stage
from gazette_cdk.stage.stage import ROOMS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "configuration.md"


_HEAD = """# Configuration

This page lists the settings of a stage by group. A stage is one installation of Gazette. You define
stages in the `gazette.toml` of a [project](install.md), or in `cdk.json` under `context.stages`.
`make docs` generates this page from the modules of `infra/gazette_cdk/stage`.

The pages show settings in TOML, as in `gazette.toml`. Write them below the table of the stage, such
as `[test]`. An inline table, such as `{ ingest = 100 }`, must be on one line. `cdk.json` has the
same settings in JSON:

| `gazette.toml` | `cdk.json` |
| --- | --- |
| `sunset_days = 0` | `"sunset_days": 0` |
| `services_api = { requests_per_second = 50 }` | `"services_api": {"requests_per_second": 50}` |
| `sources = { "event.created" = ["shop.web"] }` | `"sources": {"event.created": ["shop.web"]}` |

- Synthesis refuses values that are out of range or have the wrong type. It reports all problems at
  once. Each problem is one line with the setting, its value and the required change.
- Synthesis compares a stage with all other stages. It refuses a `bus`, `domain`, `links_domain` or
  DNS record that another stage uses, and names both stages. Set `account` and `region` in each
  stage, so that synthesis knows which stages share an account and Region.
- The data stack contains the tables and the keys that sign readers' links. By default, these
  resources remain when the stack is deleted. Tables also have deletion protection. Tables that
  cannot be rebuilt have point-in-time recovery (see `restorable`).
- If your machine has no Python 3.13, synthesis warns that the layers ship without `.pyc` files.

See also [sending](sending.md), [unknown outcomes](unknown-outcomes.md),
[subscribers](subscribers.md) and [templates](templates.md)."""
_OBJECT = re.compile(r"`(\{.+?\})`")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_TEXT = re.compile(r"(?:\[(?P<unit>[^\]]+)\] )?(?P<meaning>.+?)\n\n(?P<wrong>.+)", re.DOTALL)
_UNITS = {SECOND: "seconds", MINUTE: "minutes"}
_NOT_SET = "name"


@dataclass(frozen=True)
class Setting:
    """The row of a setting in a table of docs/configuration.md."""

    kind: str
    default: str
    unit: str
    meaning: str
    wrong: str


def groups() -> Mapping[str, tuple[str, ...]]:
    """Return the settings below each heading of the page, in their order in the source."""
    return {_heading(room): tuple(each.name for each in fields(room)) for room in ROOMS}


def _heading(room: type) -> str:
    return str(room.__doc__).splitlines()[0].rstrip(".")


def _introductions() -> Mapping[str, str]:
    """Return the rest of each group's docstring."""
    return {
        _heading(room): " ".join(" ".join(str(room.__doc__).splitlines()[1:]).split())
        for room in ROOMS
    }


def texts() -> dict[str, str]:
    """Return the text below each setting in the source."""
    return {
        setting.target.id: text.value.value
        for room in ROOMS
        for part in ast.parse(getsource(room)).body
        if isinstance(part, ast.ClassDef)
        for setting, text in pairwise(part.body)
        if isinstance(setting, ast.AnnAssign)
        and isinstance(setting.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def settings() -> Mapping[str, Setting]:
    """Return the settings by name. Raise KeyError for a setting without a text."""
    by_name = texts()
    return {
        each.name: _setting(each, by_name[each.name])
        for each in fields(Stage)
        if each.name != _NOT_SET
    }


def _given(each: Field[Any]) -> object:
    """Return the default value of the setting, as cdk.json would contain it."""
    default = each.default if each.default_factory is MISSING else each.default_factory()
    return as_written(each.name, default)


def _setting(each: Field[Any], text: str) -> Setting:
    parts = _TEXT.fullmatch(text)
    if parts is None:
        raise ValueError(f"expected a meaning, an empty line, and limits: {text!r}")
    unit, meaning, wrong = (" ".join((part or "").split()) for part in parts.groups())
    if each.name in DURATIONS:
        unit = _UNITS[DURATIONS[each.name].unit]
    meaning, wrong = (_OBJECT.sub(_in_toml, part) for part in (meaning, wrong))
    return Setting(_kind(each.type), _default(_given(each)), unit, meaning, wrong)


def _in_toml(example: re.Match[str]) -> str:
    """Return the example of a setting as an inline table. Other text in braces does not change."""
    try:
        return f"`{toml(json.loads(example[1]))}`"
    except ValueError:
        return example[0]


def toml(value: object) -> str:
    """Return a JSON value as a TOML value on one line."""
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    pairs = (
        f"{key if _BARE_KEY.fullmatch(key) else json.dumps(key)} = {toml(each)}"
        for key, each in value.items()
    )
    return f"{{ {', '.join(pairs)} }}"


def _kind(kind: object) -> str:
    names = {
        str: "text",
        int: "number",
        timedelta: "number",
        bool: "true or false",
        dict: "object",
        list: "list",
    }
    return names[get_origin(kind) or kind]  # type: ignore[index]


def _default(default: object) -> str:
    if default is MISSING:
        return "required"
    if isinstance(default, list | dict):
        return f"`{toml(default)}`" if default else "none"
    if isinstance(default, bool):
        return str(default).lower()
    return f"`{default}`" if isinstance(default, str) and default else str(default)


def page() -> str:
    """Return the whole page."""
    return "\n".join([_HEAD, *_tables(), ""])


def _tables() -> Iterator[str]:
    known, introductions = settings(), _introductions()
    for group, names in groups().items():
        yield f"\n## {group}\n"
        if introductions[group]:
            yield f"{introductions[group]}\n"
        yield "| setting | type | default | unit | meaning | limits and effects |"
        yield "| --- | --- | --- | --- | --- | --- |"
        for name in names:
            row = known[name]
            yield (
                f"| `{name}` | {row.kind} | {row.default} | {row.unit} "
                f"| {row.meaning} | {row.wrong} |"
            ).replace("  |", " |")


if __name__ == "__main__":
    PAGE.write_text(page())
