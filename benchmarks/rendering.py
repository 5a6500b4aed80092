"""A comparison of ways to render an email with 35 groups, in CPU seconds.

The floor is plain Jinja2 with a single template that has inlined CSS, is compiled once, gets
prepared values, and is only in English. The floor does not clean, translate or count. Its email
equals ours except for white space.

`python -m benchmarks.rendering` prints the medians, and `make bench` compares them with the goals.
The peers are in `.bench`, which `make bench` installs.
"""

import html
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from textwrap import shorten
from typing import Any
from zlib import crc32
from zoneinfo import ZoneInfo

from gazette.adapters.rendering.brand import read_brand
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.texts import initials
from gazette.adapters.rendering.view_models import COLOURS
from gazette.domain.delivery.arrangement import Arrangement, Ranking
from gazette.domain.delivery.compose import Block, Count, Digest, compose
from gazette.domain.links import Scope, ScopeKind
from gazette.domain.model import DAILY, Actor, Edition, Entity, Event
from gazette.domain.ports.rendering import Links
from gazette.domain.subscribers.subscriber import Subscriber
from jinja2 import Environment, FunctionLoader, select_autoescape
from premailer import transform

from benchmarks.peers import mjml, peer
from gazette_cdk.assets.templates.build import build_templates
from gazette_cdk.assets.templates.inline import inline

COLD, WARM, FLOOR = "cold", "warm", "plain Jinja2"
"""The names of our rendering with an empty and with a full cache, and of the floor."""

_PREMAILER, _CSS_INLINE, _MJML = "premailer per email", "css-inline per email", "MJML precompiled"

GROUPS = 35
"""The number of groups in the longest email, with initials and links."""

_WHY = "You get this at {} on days when something happened to you or to what you follow."

_FEW = 2
"""The number of people whose names are shown if there are more."""

_EMAILS_A_ROUND = 50
"""The number of emails that our ways and the floor render per round. The median counts."""

_ROUND = "--round"

_EMAILS_OF_PEERS = 5
"""The number of these emails that the peers also render. Some peers take 60 ms for each."""

_TEMPLATES = Path(__file__).parents[1] / "templates"
_EMAILS = Path(__file__).parent / "emails"
_NOW = datetime(2026, 11, 22, 7, 3, tzinfo=UTC)
_ZONE = "Europe/Berlin"
_LINKS = Links(
    unsubscribe="https://mail.example.com/unsubscribe/k1.YW5u.abc_-d",
    preferences="https://mail.example.com/preferences/k1.YW5u.abc_-e",
    email="https://mail.example.com/email/k1.YW5uLWRhaWx5LTE.abc_-f",
    updates="https://mail.example.com/updates/k1.YW5uLWRhaWx5LTE.abc_-f",
    leave=lambda scope: f"https://mail.example.com/unsubscribe/k1.{scope.names[0]}.abc_-f",
)
_NAMES = ("Ann Archer", "Bo", "Cy Young", "Zoë O'Neill", "Dee", "José García", "Eve", "Kim")
_DONE = {
    "article": ("published an article", "published"),
    "comment": ("commented", "commented on"),
    "like": ("liked this", "liked"),
    "reply": ("replied", "replied in"),
}
"""The text of one event before the title."""

_KINDS = {"article": "articles", "comment": "comments", "like": "likes", "reply": "replies"}

_SNIPPET = 120
"""The maximum length of the excerpt in a row."""

_SEVERAL = {
    "article": "new articles from",
    "comment": "new comments",
    "reply": "new replies",
}
_SENTENCE = "It took us a while to see why the second query was slower than the first & what to do"


class UnequalError(Exception):
    """An error for different emails from two ways, whose times cannot be compared."""


Render = Callable[[], Edition]
Way = Callable[[Digest, Subscriber], Render]
"""A function that prepares a way to render, and returns the function to measure."""


def measure(rounds: int) -> Mapping[str, Sequence[float]]:
    """Return the median CPU seconds of an email, by way and by round.

    Each round is a process of its own, because the same code can take 10 % longer in one process
    than in another. Raise NoPeers, or CalledProcessError if a round fails.
    """
    _peers()
    taken: dict[str, list[float]] = {}
    for _ in range(rounds):
        command = [sys.executable, "-m", "benchmarks.rendering", _ROUND]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        for name, seconds in json.loads(printed.stdout).items():
            taken.setdefault(name, []).append(seconds)
    return taken


def _of_round() -> Mapping[str, float]:
    """Return the median CPU seconds of an email in this process, by way. Raise UnequalError."""
    with tempfile.TemporaryDirectory() as folder:
        ours, peers = ours_and_floor(Path(folder)), _peers()
        compare({**ours, **peers})
        emails = range(1, _EMAILS_A_ROUND + 1)
        taken = {**_times(ours, emails), **_times(peers, emails[:_EMAILS_OF_PEERS])}
    return {name: median(each) for name, each in taken.items()}


def _times(ways: Mapping[str, Way], emails: Iterable[int]) -> Mapping[str, Sequence[float]]:
    """Return the CPU seconds of each email, by way. All ways render the same emails.

    The first way changes with each email. COLD renders an email immediately before WARM, which
    therefore finds all of its blocks in the cache.
    """
    taken: dict[str, list[float]] = {name: [] for name in ways}
    order = [name for name in ways if name != WARM]
    for number in emails:
        for name in order:
            taken[name].append(_seconds(ways[name], number))
            if name == COLD:
                taken[WARM].append(_seconds(ways[WARM], number))
        order.append(order.pop(0))
    return taken


def digest(number: int) -> Digest:
    """Return a digest with this number of groups, all shown in full.

    The same number returns equal but new objects, as for two readers of the same post.
    """
    some = random.Random(number)
    return compose(
        (
            Event(
                user_id="reader",
                id=f"{number}.{group}.{event}",
                category=category,
                entity=Entity(
                    "post",
                    f"{number}.{group}",
                    f"Report {number} on part {group}",
                    f"https://example.com/posts/{number}/{group}?from=digest&week=47",
                ),
                actor=Actor(name, f"{name} {number}"),
                occurred_at=_NOW - timedelta(seconds=some.randrange(86_400)),
                excerpt=". ".join([_SENTENCE] * some.randint(0, 2)),
            )
            for group in range(GROUPS)
            for category in [some.choice(list(_DONE))]
            for event in range(some.randint(1, 5))
            for name in [some.choice(_NAMES)]
        ),
        max_blocks=GROUPS,
        arrangement=Arrangement(ranking=Ranking.MOST_ACTIVE, full_blocks=GROUPS),
    )


def _reader(number: int) -> Subscriber:
    return Subscriber(
        user_id=f"reader{number}",
        email=f"reader{number}@example.com",
        name=f"Reader {number}",
        locale="en",
        time_zone=_ZONE,
        changed_at=_NOW,
    )


def _seconds(way: Way, number: int) -> float:
    render = way(digest(number), _reader(number))
    began = time.process_time()
    render()
    return time.process_time() - began


def ours_and_floor(folder: Path) -> dict[str, Way]:
    """Build the templates into the empty `folder`, and return the ways that do not need peers."""
    ours = _ours(folder / "gazette_templates")
    return {COLD: ours, WARM: ours, FLOOR: _plain(inline(_styled(), name="email.html"))}


def _peers() -> dict[str, Way]:
    styled = _styled()
    return {
        _PREMAILER: _plain(styled, finish=_with_premailer),
        _CSS_INLINE: _plain(styled, finish=peer("css_inline").CSSInliner().inline),
        _MJML: _plain(mjml((_EMAILS / "email.mjml").read_text())),
    }


def _ours(folder: Path) -> Way:
    build_templates(_TEMPLATES, folder)
    renderer = JinjaRenderer(folder)
    return lambda shown, to: lambda: renderer.render(shown, to, _LINKS, DAILY, due_at=_NOW)


def _with_premailer(page: str) -> str:
    return str(transform(page, allow_network=False, cssutils_logging_level="CRITICAL"))


def _styled() -> str:
    """Return the floor's page with our style sheets, which are not inlined."""
    css = (_TEMPLATES / "email.css").read_text().replace("{{ language.start }}", "left")
    page = (_EMAILS / "email.html").read_text()
    outlook = (_TEMPLATES / "outlook.css").read_text()
    kept = f'<style data-premailer="ignore">\n{outlook}</style>'
    page = page.replace('<link rel="stylesheet" href="outlook.css">', kept)
    return page.replace('<link rel="stylesheet" href="email.css">', f"<style>\n{css}</style>")


def _plain(page: str, *, finish: Callable[[str], str] = str) -> Way:
    """Return a way that uses plain Jinja2. `finish` converts the rendered page into the email."""
    sources = {"email.html": page}
    environment = Environment(
        loader=FunctionLoader(lambda name: sources.get(name) or (_EMAILS / name).read_text()),
        autoescape=select_autoescape(("html",), default=False),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    subject, body, text = map(environment.get_template, ("subject.txt", "email.html", "email.txt"))
    brand, zone = read_brand(_TEMPLATES / "brand.json"), ZoneInfo(_ZONE)

    def prepare(shown: Digest, to: Subscriber) -> Render:
        values = {
            "brand": brand,
            "day": f"{_NOW.astimezone(zone):%-d %b}",
            "today": f"{_NOW.astimezone(zone):%A, %-d %B}",
            "events": shown.events,
            "first_counts": _counted(each for each in shown.counts if each.is_for_reader),
            "other_counts": _counted(each for each in shown.counts if not each.is_for_reader),
            "groups": _simply(shown.blocks, zone),
            "less": [(_KINDS[name], _leave(name)) for name in _least_relevant(shown)],
            "links": _LINKS,
            "reader": to.name.split()[0],
            "why": _WHY.format(f"{to.digest_time:%H:%M}"),
        }
        return lambda: Edition(
            subject.render(values).strip(), finish(body.render(values)), text.render(values)
        )

    return prepare


def _counted(counts: Iterable[Count]) -> str:
    return _listed([f"{each.updates} {_noun(each)}" for each in counts])


def _noun(count: Count) -> str:
    return count.category if count.updates == 1 else _KINDS[count.category]


def _least_relevant(shown: Digest) -> list[str]:
    return list(dict.fromkeys([each.category for each in reversed(shown.counts)]))[:2]


def _leave(category: str) -> str:
    return _LINKS.leave(Scope(ScopeKind.CATEGORY, (category,)))


def _simply(blocks: Sequence[Block], zone: ZoneInfo) -> list[dict[str, Any]]:
    """Return the English values of one-group blocks for the plain templates."""
    groups = [_group(block, zone) for block in blocks]
    first_row = next(group for group in groups if not group["leads"])
    first_row["begins_rows"] = True
    groups[0]["is_first"] = True
    return groups


def _group(block: Block, zone: ZoneInfo) -> dict[str, Any]:
    [group] = block.groups
    names, number = [actor.name for actor in group.actors], group.people
    few = names if number <= _FEW else [names[0], f"{number - 1} others"]
    if number > _FEW + 1:
        names[_FEW:] = [f"{number - _FEW} others"]
    people, latest = _listed(names), group.latest
    title, category, count = latest.entity.title, group.category, group.count
    done, done_to = _DONE[category]
    if count == 1 or category == "like":
        line, headline = f"{people} {done}", f"{_listed(few)} {done_to} “{title}”"
    elif category == "article":
        line = f"{count} {_SEVERAL[category]} {people}"
        headline = f"{count} {_SEVERAL[category]} {_listed(few)}: “{title}”"
    else:
        line = f"{count} {_SEVERAL[category]} from {people}"
        headline = f"{count} {_SEVERAL[category]} {done_to.split()[-1]} “{title}”"
    signer = group.actors[0].name if count > 1 and latest.excerpt else ""
    quotes = [(signer, latest.excerpt)]
    if len(group.quoted) > 1:
        quotes = [(_signer(event) if number > 1 else "", event.excerpt) for event in group.quoted]
    quotes = [(name, text) for name, text in quotes if text]
    remaining = count - len(quotes) if len(quotes) > 1 else 0
    local = latest.occurred_at.astimezone(zone)
    is_today = local.date() == _NOW.astimezone(zone).date()
    return {
        "leads": block.is_for_reader,
        "title": title,
        "url": latest.entity.url,
        "excerpt": latest.excerpt,
        "signer": signer,
        "row_signer": quotes[0][0] if quotes and number > 1 else "",
        "snippet": shorten(quotes[0][1] if quotes else "", _SNIPPET, placeholder="…"),
        "quotes": quotes,
        "remaining": remaining,
        "button": "See the reply" if count == 1 else "See the replies",
        "line": line,
        "headline": headline,
        "moment": f"{'Today' if is_today else 'Yesterday'}, {local:%H:%M}",
        "initials": initials(group.actors[0].name),
        "colour": COLOURS[crc32(group.actors[0].id.encode()) % len(COLOURS)],
    }


def _signer(event: Event) -> str:
    return event.actor.name if event.actor else ""


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def compare(ways: Mapping[str, Way]) -> None:
    """Render an email with each way, which warms the caches, and compare the emails.

    Raise UnequalError if the emails differ.
    """
    shown, to = digest(0), _reader(0)
    ours = ways[WARM](shown, to)()
    for name, way in ways.items():
        made = way(shown, to)()
        same = _words(made.html) == _words(ours.html)
        if name == FLOOR:
            same = "".join(made.html.split()) == "".join(ours.html.split())
        if not same or (made.subject, made.text) != (ours.subject, ours.text):
            raise UnequalError(f"{name} renders another email than ours.")


def _words(page: str) -> list[str]:
    """Return the words of a page, without its tags."""
    body = re.sub(r"<!--.*?-->|<style.*?</style>", " ", page, flags=re.DOTALL).partition("<body")[2]
    return html.unescape(re.sub(r"<[^>]*>", " ", f"<{body}")).split()


def main() -> int:
    """Print the median of each way, and its ratio to the floor. With `--round`, print one round."""
    if sys.argv[1:] == [_ROUND]:
        print(json.dumps(_of_round()))
        return 0
    found = {name: median(each) for name, each in measure(9).items()}
    for name, seconds in found.items():
        times = seconds / found[FLOOR]
        print(f"{name:22} {1000 * seconds:7.2f} ms {times:6.2f} × plain Jinja2")
    return 0


if __name__ == "__main__":
    sys.exit(main())
