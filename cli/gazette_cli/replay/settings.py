"""The digest settings that differ between the two sides of a replay."""

from collections import defaultdict
from collections.abc import Mapping

from gazette.domain.templates.versions import Version

from gazette_cli.templates.stage import named
from gazette_support.steps.replay import Side

_NOT_SET = "not set"


def settings_changed(before: Mapping[Version, Side], after: Side) -> list[tuple[str, str, str]]:
    """Return the name and the two values of each setting that differs.

    `before` contains the versions that were rendered before the change. If the value of a setting
    differs between these versions, the result lists all values, such as `by version: 20 (the
    deployed templates), 5 (version 7)`.
    """
    were, now = {version: _settings(side) for version, side in before.items()}, _settings(after)
    names = dict.fromkeys(name for each in (*were.values(), now) for name in each)
    return [
        (name, _value(name, were), now.get(name, _NOT_SET))
        for name in names
        if any(each.get(name) != now.get(name) for each in were.values())
    ]


def _value(name: str, were: Mapping[Version, Mapping[str, str]]) -> str:
    versions = defaultdict[str, list[str]](list)
    for version in sorted(were, key=lambda each: each.number):
        versions[were[version].get(name, _NOT_SET)].append(named(version))
    if len(versions) == 1:
        return next(iter(versions))
    values = (f"{value} ({', '.join(names)})" for value, names in versions.items())
    return f"by version: {', '.join(values)}"


def _settings(side: Side) -> dict[str, str]:
    arrangement = side.arrangement
    weights = {
        f"category_weights, {category}": f"{weight:g}"
        for category, weight in sorted(arrangement.weights.items())
    }
    return {
        "ranking": arrangement.ranking.value,
        "sections": arrangement.sections.value,
        "max_blocks": str(side.max_blocks),
        "full_blocks": str(arrangement.full_blocks),
        "variation": "the run's own" if side.variation is None else str(side.variation),
        **weights,
    }
