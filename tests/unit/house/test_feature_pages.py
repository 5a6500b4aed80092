"""The pages of features: each lists the paths of the feature's code under the heading Code."""

import re
from collections.abc import Collection
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LAYER = ROOT / "layers/gazette/python/gazette"
PRODUCT = (LAYER, *(ROOT / top for top in ("functions", "infra/gazette_cdk", "cli")))

FEATURES = {
    "content.md": {"asking", "content", "recommendations", "sources"},
    "templates.md": {"template", "templates", "versions"},
}
"""The pages of features. A module belongs to a feature if its path contains one of the words."""

OTHERS = {
    "domain/sources.py": "the services that may publish events",
    "cli/gazette_cli/preview/content.py": "the events of a previewed email",
    "cli/gazette_cli/rollback/versions.py": "the versions of the code",
}
"""The modules in whose paths one of the words has a different meaning."""


def modules() -> list[str]:
    """Return the paths of all modules of the product, as pages write them."""
    paths = (path for top in PRODUCT for path in top.rglob("*.py"))
    return [str(path.relative_to(LAYER if path.is_relative_to(LAYER) else ROOT)) for path in paths]


def listed(page: str) -> list[str]:
    """Return the paths in the first column of the table under the heading Code."""
    code = page.partition("\n## Code\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(.+?)` \|", code, re.MULTILINE)


def unlisted(words: Collection[str], names: Collection[str], paths: Collection[str]) -> list[str]:
    """Return the modules of a feature that are neither in `paths` nor in a folder in `paths`."""
    return [
        name
        for name in names
        if name not in OTHERS
        and not {*words}.isdisjoint(re.split(r"\W|_", name))
        and not any(name == path or (path[-1] == "/" and name.startswith(path)) for path in paths)
    ]


def lost(names: Collection[str], paths: Collection[str]) -> list[str]:
    """Return the paths that neither are modules nor contain modules."""
    folders = {f"{parent}/" for name in names for parent in Path(name).parents}
    return [path for path in paths if path not in {*names, *folders}]


@pytest.mark.parametrize("page", FEATURES)
def test_page_lists_all_modules_of_its_feature(page: str) -> None:
    paths = listed((ROOT / "docs" / page).read_text())
    assert unlisted(FEATURES[page], modules(), paths) == []
    assert lost(modules(), paths) == []


def test_other_modules_exist() -> None:
    assert OTHERS.keys() - {*modules()} == set()


def test_unlisted_module_and_nonexistent_path_are_detected() -> None:
    page = "| `a/news.py` | a |\n## Code\n| path | |\n| `b/news/` | b |\n| `c.py` | c |\n"
    names = ["a/news.py", "b/news/any.py", "b/all_news.py", "b/newsagents.py"]
    assert listed(page) == ["b/news/", "c.py"]
    assert unlisted({"news"}, names, listed(page)) == ["a/news.py", "b/all_news.py"]
    assert lost(names, listed(page)) == ["c.py"]
