"""What mail programs show, by the data of caniemail.com, and what we accept that some do not.

`caniemail.json` is an extract of https://www.caniemail.com/api/data.json (MIT licence, by Rémi
Parmentier and contributors) for the mail programs that `clients.json` names. To write it anew:

    python -m tests.mail_clients.support data.json
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.mail_clients.features import UNTOLD, Use

_FOLDER = Path(__file__).parent
_DATA = _FOLDER / "caniemail.json"
_SHOWN = "y"
_LESS = {"a": "partly", "n": "not", "u": "untested"}
"""How much is shown, where it is not all."""


class Problem(NamedTuple):
    """A mail program that shows a use of a feature only in part, or not at all."""

    use: Use
    client: str
    shown: str

    def __str__(self) -> str:
        """In words, with the page that says more."""
        feature, on, value, _ = self.use
        if feature.startswith(UNTOLD):
            return f"{feature} on <{on}>: caniemail.com has no page about it"
        return (
            f"{feature} on <{on}> ({value}): {self.shown} in {self.client}; "
            f"see https://www.caniemail.com/features/{feature}/"
        )


class Reason(NamedTuple):
    """Why we use a feature on the elements `on` that some mail programs do not show, or not all of.

    It does not hold for what `unless`, a regular expression, finds in the value.
    """

    feature: str
    shown: str
    on: tuple[str, ...]
    unless: str
    why: str

    def holds(self, problem: Problem) -> bool:
        """Whether it excuses this use in this program."""
        use = problem.use
        return (
            (use.feature, problem.shown) == (self.feature, self.shown)
            and use.on in self.on
            and not (self.unless and re.search(self.unless, use.value))
        )


def clients() -> tuple[str, ...]:
    """The mail programs in which emails must look right."""
    return tuple(_listed()["clients"])


def reasons() -> tuple[Reason, ...]:
    """What we accept."""
    return tuple(
        Reason(
            each["feature"], each["shown"], tuple(each["on"]), each.get("unless", ""), each["why"]
        )
        for each in _listed()["reasons"]
    )


def table() -> dict[str, dict[str, str]]:
    """For each feature and mail program: `y`, `a` (in part), `n`, or `u` (untested)."""
    stored = json.loads(_DATA.read_text())
    return {
        feature: dict(zip(stored["clients"], letters, strict=True))
        for feature, letters in stored["features"].items()
    }


def problems(used: Iterable[Use], known: dict[str, dict[str, str]]) -> Iterator[Problem]:
    """Where a mail program may show something else. A rule that it passes over is none."""
    for use in used:
        if use.feature.startswith(UNTOLD):
            yield Problem(use, "any", "untested")
        for client, shown in known.get(use.feature, {}).items():
            reads = all(known[each][client] in "ya" for each in use.needs if each in known)
            if shown != _SHOWN and reads:
                yield Problem(use, client, _LESS[shown])


def _listed() -> dict[str, Any]:
    listed: dict[str, Any] = json.loads((_FOLDER / "clients.json").read_text())
    return listed


def _extract(everything: dict[str, Any]) -> dict[str, Any]:
    """The newest version of each program, as a letter in the order of `clients`."""

    def letter(feature: dict[str, Any], client: str) -> str:
        family, _, platform = client.partition(".")
        versions = feature["stats"].get(family, {}).get(platform, {})
        return str(list(versions.values())[-1])[0] if versions else "u"

    return {
        "source": "https://www.caniemail.com/api/data.json",
        "updated": everything["last_update_date"],
        "clients": clients(),
        "features": {
            feature["slug"]: "".join(letter(feature, client) for client in clients())
            for feature in sorted(everything["data"], key=lambda each: str(each["slug"]))
        },
    }


def main(arguments: list[str]) -> int:
    """Write the extract of the file that is named."""
    made = _extract(json.loads(Path(arguments[0]).read_text()))
    _DATA.write_text(json.dumps(made, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
