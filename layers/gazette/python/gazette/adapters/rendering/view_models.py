"""What a template is given of a group: cleaned, cut to length, in the reader's language.

Whatever a service put is text. None of it may turn round the sentences beside it, run over the
page, or lead anywhere but to the web.
"""

import re
from dataclasses import dataclass
from datetime import tzinfo
from unicodedata import category

from gazette.adapters.rendering.language import FIRST_STRONG_ISOLATE, POP_ISOLATE, Language
from gazette.domain.delivery.compose import Group
from gazette.domain.errors import RenderingFailed
from gazette.domain.links import is_web_link

_NAME, _TITLE, _EXCERPT = 80, 200, 300
"""Characters. A title may be as long as the contract has it."""

_NAMED = 2
"""How many people are named where there are more than one beside them."""

_NEVER = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\uffff\U000e0000-\U000e007f]"
)
"""Controls, what turns text round (UAX #9, 2.1 to 2.4), and what cannot be seen at all."""

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols by Unicode's tables, and yet nothing is to be seen of them."""

_NEVER_IN_A_SUBJECT = re.compile(
    _NEVER.pattern.replace(r"\u2060-\u206f", r"\u2060-\u2067\u206a-\u206f")
)
"""The same but for the isolates that a template put round what is in it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A group as one reader sees it, and so all readers of whom all of it is the same.

    `people` are the names to show, `others` how many more there are. `moment` is when it moved
    last, on the reader's clock; `language` names the customs that it is written by.
    """

    category: str
    count: int
    people: tuple[str, ...]
    others: int
    title: str
    url: str
    excerpt: str
    moment: str
    language: str


def show(group: Group, language: Language, zone: tzinfo) -> Shown:
    """Raises RenderingFailed where its link leads elsewhere than to the web."""
    latest = group.latest
    if not is_web_link(latest.entity.url):
        raise RenderingFailed(f"the link of {latest.entity.key[:200]!r} is no http or https URL")
    named = len(group.actors) if len(group.actors) <= _NAMED + 1 else _NAMED
    return Shown(
        category=latest.category,
        count=group.count,
        people=tuple(one_line(actor.name, _NAME) for actor in group.actors[:named]),
        others=len(group.actors) - named,
        title=one_line(latest.entity.title, _TITLE) or latest.entity.url,
        url=latest.entity.url,
        excerpt=_several_lines(latest.excerpt),
        moment=language.moment(latest.occurred_at, zone),
        language=language.name,
    )


def one_line(text: str, longest: int) -> str:
    """`text` without line breaks and what cannot be seen, cut to `longest` characters.

    Empty where nothing would be seen of it at all.
    """
    return _cut(" ".join(_seen(text, longest).split()), longest)


def subject_line(text: str, longest: int) -> str:
    """What a template made, on one line, cut to `longest` characters: no isolate stays open."""
    line = _cut(" ".join(_NEVER_IN_A_SUBJECT.sub("", text).split()), longest - 1)
    return line + POP_ISOLATE * (line.count(FIRST_STRONG_ISOLATE) - line.count(POP_ISOLATE))


def _several_lines(text: str) -> str:
    lines = (" ".join(line.split()) for line in _seen(text, _EXCERPT).splitlines())
    return _cut("\n".join(lines).strip(), _EXCERPT)


def _seen(text: str, longest: int) -> str:
    """Only as much of it is looked at as can be shown, whatever its length."""
    seen = _NEVER.sub("", text[: 8 * longest])
    return seen if any(map(_is_visible, seen)) else ""


def _is_visible(character: str) -> bool:
    """By itself: no space, mark on another, or control."""
    kind = category(character)
    return kind[0] not in "MZ" and kind not in {"Cc", "Cf"} and character not in _BLANK


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
