"""A function keeps its rights on tables for one release.

A rollback moves the functions back to the code of the last release, but not their roles. During an
upgrade, the old code runs until the aliases are switched (docs/runbook/bad-deployment.md).
"""

from pathlib import Path

from gazette_cdk import topology
from tests.releases.recorded import in_site, last, printed

_PRINT = """
import json
from gazette_cdk import topology
steps = [each for each in vars(topology).values() if type(each).__name__ == "Step"]
rights = {
    each.name: sorted(
        (table, action)
        for field in dir(each)
        if field == "tables" or field.startswith("tables_of_")
        for table, actions in getattr(each, field)
        for action in actions
    )
    for each in steps
}
print(json.dumps(rights))
"""

Rights = dict[str, set[tuple[str, str]]]


def _rights_of(package: Path | None) -> Rights:
    """The rights on tables by function, of an unpacked release or of this version."""
    environment = in_site(package) if package else None
    return {
        function: {(table, action) for table, action in rights}
        for function, rights in printed(_PRINT, environment).items()
    }


def _missing(before: Rights, after: Rights) -> set[tuple[str, str, str]]:
    return {
        (function, *right)
        for function, rights in before.items()
        for right in rights - after.get(function, set())
    }


def test_functions_keep_the_rights_of_the_last_release(tmp_path: Path) -> None:
    before = _rights_of(last().unpack(tmp_path))
    assert ("runs", "GetItem") in before["feedback"]
    assert _missing(before, _rights_of(None)) == set()


def test_missing_right_is_reported() -> None:
    now = _rights_of(None)
    assert now.keys() >= {each.name for each in topology.STEPS}
    less = {**now, "feedback": now["feedback"] - {("runs", "GetItem")}}
    assert _missing(now, less) == {("feedback", "runs", "GetItem")}
