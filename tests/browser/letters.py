"""Real emails for every language: what a reader of it was sent by the deployed stage."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from demo.engine import ROOT
from demo.ses import Accepted
from tests.stage import Deployed, a_profile, next_due

_LOCALES = ROOT / "templates" / "locales"
_PLACES = 23
"""More than a digest shows: it ends with what it leaves out."""

_NAMES = ("Bo Berg", "נועה לוי", "Maximiliane Wolkenstein-Trostburg", "محمد علي", "Zoë")


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


def correspond(deployed: Deployed) -> dict[str, Letters]:
    """Let each reader have a long digest and an email at once."""
    put = deployed.service.put_events
    readers = {locale: f"reads{locale.lower().replace('-', '')}" for locale in languages()}
    for locale, user in readers.items():
        put(
            "subscriber.changed",
            [{**a_profile(user), "locale": locale, "frequencies": {"mention": "immediate"}}],
        )
        put("event.created", [{"events": [_comment(user, number) for number in range(40)]}])
        put("event.created", [{**_comment(user, 50), "category": "mention"}])
    deployed.settle()
    deployed.service.wait_until_drained("generate")
    deployed.tick(next_due())
    found = {}
    for locale, user in readers.items():
        immediate, digest = deployed.inbox(user)
        assert immediate.tags["run"].startswith(f"{user}-now")
        found[locale] = Letters(locale, digest, immediate)
    return found


def _comment(user: str, number: int) -> dict[str, Any]:
    place = number % _PLACES
    return {
        "id": f"event{number}",
        "user_id": user,
        "category": ("comment", "like", "follow")[place % 3],
        "entity": {
            "type": "post",
            "id": f"p{place}",
            "title": "A title that is as long as titles get where people write them " * 3
            if place == 1
            else f"On digests, part {place}",
            "url": f"https://example.com/p{place}",
        },
        "actor": {"id": f"u{number}", "name": _NAMES[number % len(_NAMES)]},
        "occurred_at": (datetime.now(UTC) - timedelta(minutes=number)).isoformat(),
        "excerpt": "Well said, and at some length: " * (place % 4),
    }
