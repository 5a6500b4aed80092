"""The files of a new project, rendered from the folder `scaffold`."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gazette_cdk.assets.templates.build import TOOLS
from gazette_cdk.folders import GAZETTE
from gazette_cdk.stacks.version import gazette_version

_FOLDER = Path(__file__).parent / "scaffold"
_TEMPLATE = ".jinja"
BUS = "gazette-test"
"""The event bus of the stage `test`."""

_CDK = "aws-cdk"
"""The npm package with the command `cdk`.
https://docs.aws.amazon.com/cdk/v2/guide/cli.html
"""

_HIDDEN = "dot-"
"""The beginning of a name that stands for a dot, because builds of packages omit hidden files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The values in the files of a new project."""

    # The name of the folder, such as `shop`.
    name: str

    sender: str
    list_id: str
    alarm_email: str

    @property
    def title(self) -> str:
        """The name in a brand, such as `Shop`."""
        return self.name.replace("-", " ").replace("_", " ").title()


def files(project: Project) -> dict[Path, str]:
    """Return the contents of the files, by their path in the folder of the project."""
    templates = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=False,  # noqa: S701 -- no file is HTML
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        variable_start_string="[[",  # the workflow contains {{ }}
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
    )
    values = _values(project)
    return {
        _target(name): templates.get_template(name).render(values)
        for name in templates.list_templates(extensions=[_TEMPLATE.removeprefix(".")])
    } | {Path("cdk.json"): _cdk_json(), Path("package.json"): _package_json()}


def _values(project: Project) -> Mapping[str, Any]:
    """Return the values of the templates. JSON text is also TOML text."""
    return {
        "title": project.title,
        "name": _text(project.title),
        "sender": _text(project.sender),
        "list_id": _text(project.list_id),
        "alarm_email": _text(project.alarm_email),
        "domain": project.list_id.partition(".")[2] or project.list_id,
        "postal_address": _text(f"{project.title}, street, postal code, city"),
        "bus": BUS,
        "version": gazette_version(),
        "tools": [(tool, version(tool)) for tool in TOOLS],
    }


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _target(name: str) -> Path:
    parts = Path(name.removesuffix(_TEMPLATE)).parts
    return Path(
        *(f".{part.removeprefix(_HIDDEN)}" if part.startswith(_HIDDEN) else part for part in parts)
    )


def _cdk_json() -> str:
    """Return a cdk.json with the feature flags with which Gazette is tested.

    With other flags, the templates have a different form, and one deployment replaces the versions
    of all functions.
    """
    context = dict(_flags())
    settings = {"app": "python app.py", "output": "build/cdk.out", "context": context}
    return json.dumps(settings, indent=2) + "\n"


def _package_json() -> str:
    """Return a package.json with the version of the CDK's command with which Gazette is tested.

    Without it, `npx cdk` downloads the newest version of the package `cdk`.
    """
    tools = json.loads((GAZETTE / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    return json.dumps({"private": True, "devDependencies": {_CDK: tools[_CDK]}}, indent=2) + "\n"


def _flags() -> Iterator[tuple[str, object]]:
    context = json.loads((GAZETTE / "cdk.json").read_text(encoding="utf-8"))["context"]
    return ((name, value) for name, value in context.items() if name.startswith("@"))
