"""Real emails for every language: what a reader of it was sent by the deployed stage."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from gazette.domain.model import Actor, Entity

from demo.engine import ROOT
from demo.ses import Accepted
from gazette_cli.preview.sample import EVENTS
from tests.stage import Deployed, a_comment, a_profile, inactive_before, next_due

_LOCALES = ROOT / "templates" / "locales"
_PLACES = 14
"""More than a digest shows, with those of the sample: it ends with what it leaves out."""


@dataclass(frozen=True, slots=True)
class Letters:
    """What one reader got, in the language `locale`."""

    locale: str
    digest: Accepted
    immediate: Accepted

    def address(self, deployed: Deployed, mail: Accepted) -> str:
        """Where the HTML of the email is shown."""
        return f"{deployed.ses.url}/messages/{deployed.ses.accepted.index(mail)}"


def languages() -> tuple[str, ...]:
    """English is the source; each other language has a folder of its own."""
    others = (path.name for path in _LOCALES.glob("*/") if path.is_dir())
    return tuple(sorted({"en", *others}))


def each_language() -> list[object]:
    """The parameters of a test that runs in each language. CI tries English, and right to left."""
    return [
        pytest.param(locale, marks=[] if locale in ("en", "he") else [pytest.mark.long])
        for locale in languages()
    ]


def correspond(deployed: Deployed) -> dict[str, Letters]:
    """Let each reader have a long digest, which says that it ends soon, and an immediate email."""
    put = deployed.service.put
    readers = {locale: f"reads{locale.lower().replace('-', '')}" for locale in languages()}
    for locale, user in readers.items():
        put(
            "subscriber.changed",
            [{**a_profile(user), "locale": locale, "frequencies": {"mention": "immediate"}}],
        )
        deployed.service.put("event.created", _events(user))
    deployed.settle()
    deployed.service.wait_until_drained("immediate")
    due = next_due()
    for user in readers.values():
        inactive_before(deployed, user, due)
    deployed.tick(due)
    found = {}
    for locale, user in readers.items():
        immediate, digest = deployed.inbox(user)
        assert immediate.tags["run"].startswith(f"{user}-now")
        found[locale] = Letters(locale, digest, immediate)
    return found


def _events(user: str) -> Iterator[dict[str, Any]]:
    """What the preview's sample holds, and more places than one digest shows."""
    recently = datetime.now(UTC) - timedelta(hours=23)  # older events go with the digest
    for event in EVENTS:
        yield {
            "id": event.id,
            "user_id": user,
            "category": event.category,
            "entity": _given(event.entity),
            **({"actor": _given(event.actor)} if event.actor else {}),
            "occurred_at": max(event.occurred_at, recently).isoformat(),
            "excerpt": event.excerpt,
        }
    for place in range(_PLACES):
        yield {**a_comment(user, place), "entity": _post(place)}


def _given(value: Actor | Entity) -> dict[str, Any]:
    return {name: each for name, each in asdict(value).items() if each}


def _post(place: int) -> dict[str, str]:
    return {
        "type": "post",
        "id": f"more{place}",
        "title": f"More, part {place}",
        "url": f"https://example.com/more{place}",
    }
