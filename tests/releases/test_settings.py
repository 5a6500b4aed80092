"""Commands of this version read the settings of a stage that runs the last release."""

import json
import os
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path

from gazette_cdk.stage import Stage
from gazette_cli.shared.deployed import LATER_SETTINGS
from tests.releases.recorded import in_site, last, printed

_PRINT_FIELDS = """
import json
from dataclasses import fields
from importlib import import_module
from pkgutil import iter_modules
from gazette import settings
from gazette.settings.environment import Settings
names = [f"gazette.settings.{each.name}" for each in iter_modules(settings.__path__)]
kinds = {kind for name in names for kind in vars(import_module(name)).values()
         if isinstance(kind, type) and issubclass(kind, Settings)}
print(json.dumps({kind.__name__: [field.name for field in fields(kind)] for kind in kinds}))
"""


def variables(environment: Mapping[str, str]) -> dict[str, set[str]]:
    """The environment variables of each class of settings."""
    return {
        kind: {f"GAZETTE_{name.upper()}" for name in names}
        for kind, names in printed(_PRINT_FIELDS, environment).items()
    }


def test_commands_know_each_setting_that_functions_of_the_last_release_lack(
    tmp_path: Path,
) -> None:
    old, new = variables(in_site(last().unpack(tmp_path))), variables(os.environ)
    lacking = set().union(*(new[kind] - names for kind, names in old.items() if kind in new))
    assert lacking == LATER_SETTINGS.keys()


def test_a_setting_that_is_lacking_has_its_default() -> None:
    defaults = {
        f"GAZETTE_{each.name.upper()}": json.dumps(each.default_factory())
        if each.default_factory is not MISSING
        else each.default
        for each in fields(Stage)
    }
    assert {name: defaults[name] for name in LATER_SETTINGS} == LATER_SETTINGS
