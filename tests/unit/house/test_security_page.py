"""docs/security.md: each attack on it has its tests, and each test of an attack is on it."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
_PAGE = (ROOT / "docs" / "security.md").read_text()
_NAME = re.compile(r"`(test_\w+)`")
_TEST = re.compile(r"^def (test_\w+)\(", re.MULTILINE)


def lines() -> list[list[str]]:
    """The cells of each line that says what holds an attack."""
    found = [line.strip("|").split(" | ") for line in _PAGE.splitlines() if line.startswith("| ")]
    return [cells for cells in found if len(cells) == 3 and _NAME.search(cells[2])]


@cache
def known() -> set[str]:
    """The names of all tests."""
    paths = (ROOT / "tests").rglob("test_*.py")
    return {name for path in paths for name in _TEST.findall(path.read_text())}


def test_each_attack_on_security_page_has_existing_test() -> None:
    of_attacks = _PAGE[_PAGE.index("## Links") :].count("\n| ") - 2 * _PAGE.count("| attack |")
    assert len(lines()) == of_attacks > 30
    for attack, held_by, named in lines():
        assert attack.strip(), named
        assert held_by.strip(), attack
        assert set(_NAME.findall(named)) <= known(), attack


def test_each_attack_test_is_on_security_page_once() -> None:
    named = [name for cells in lines() for name in _NAME.findall(cells[2])]
    assert len(named) == len(set(named))
    assert set(named) == {name for name in known() if name.startswith("test_attack_")}
