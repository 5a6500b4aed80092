"""`python -m proofs.spam`, which prints SpamAssassin's score of each kind of email."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gazette_cdk.assets.templates.build import build_templates
from proofs.spam.emails import LANGUAGES, sent
from proofs.spam.scores import Scored, scored

HIGHEST = 0.0
"""The highest score that an email may have."""

_TEMPLATES = Path(__file__).parents[2] / "templates"


def main() -> int:
    """Return 1 if an email has a score above HIGHEST."""
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "built"
        build_templates(_TEMPLATES, built)
        emails = scored(list(sent(built)))
    print(*table(emails), sep="\n")  # noqa: T201 -- what the command is for
    above = too_high(emails)
    highest = max(each.score for each in emails)
    print(  # noqa: T201
        f"spam: emails={len(emails)} languages={len(LANGUAGES)} highest={highest:.1f} "
        f"above={len(above)}"
    )
    return 1 if above else 0


def table(emails: Sequence[Scored]) -> list[str]:
    """Return a line for each email: its kind, language, score, and the rules that count."""
    rows = (
        f"{each.sent.kind:12} {each.sent.language}  {each.score:5.1f}  "
        + ", ".join(f"{rule} {score:.1f}" for rule, score in each.rules.items())
        for each in emails
    )
    return [row.rstrip() for row in rows]


def too_high(emails: Sequence[Scored]) -> list[Scored]:
    """Return the emails whose score is above HIGHEST."""
    return [each for each in emails if each.score > HIGHEST]


if __name__ == "__main__":
    sys.exit(main())
