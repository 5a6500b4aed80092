"""The answer of a recommendation service: what is accepted of it, and what becomes an item.

docs/content is generated from the models. Unlike in an event, an unknown field is ignored, and null
stands for a missing one: the service may have other clients, and nobody sees a refusal in time.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from gazette.adapters.contract.fields import (
    Excerpt,
    ImageUrl,
    Instant,
    Key,
    Line,
    Url,
)
from gazette.adapters.contract.strict_json import UnreadableError, read_json
from gazette.adapters.contract.wording import in_words
from gazette.domain.content import Answer, Broken, Item
from gazette.domain.errors import SourceFailed
from gazette.domain.hosts import LinkHosts
from gazette.domain.model import Image

MOST_ITEMS = 100
"""Of one answer. Those behind them are not looked at."""

_HIGHEST = 1e9


def _number(value: object) -> object:
    """Refuse what JSON does not call a number: pydantic would take `true` and `"1"` for one."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")  # noqa: TRY004 -- pydantic reports ValueErrors
    return value


class Offered(BaseModel):
    """A part of the answer. Unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class PictureDetail(Offered):
    """A picture, which templates may show."""

    url: ImageUrl = Field(
        description="Where it is: an absolute https URL, percent-encoded, on whatever host.",
        examples=["https://example.com/a1.png"],
    )
    text: Line | None = Field(
        default=None,
        description="What is on it, on one line, for readers who do not see it. Without it, the "
        "title of the item stands for it.",
        examples=["A heron on one leg"],
    )


class ItemDetail(Offered):
    """Something that the service recommends to this reader. If it is broken, it is left out."""

    id: Key = Field(
        description="Your id of the item. What was in an earlier digest of the reader is not shown "
        "again, by this id.",
        examples=["article-4711"],
    )
    title: Line = Field(
        description="One line of plain text, which leads to the item.",
        examples=["How to watch birds in a city"],
    )
    url: Url = Field(
        description="Where it leads: an absolute http or https URL, percent-encoded, to one of the "
        "hosts in the setting `link_hosts`, if there are any.",
        examples=["https://example.com/articles/4711"],
    )
    published: Instant = Field(
        description="When it was published, with the offset from UTC. Shown in the reader's time "
        "zone.",
        examples=["2026-11-20T07:00:00Z"],
    )
    image: PictureDetail | None = Field(
        default=None,
        description="A picture of it. If it is missing or broken, the item has that of the setting "
        "`recommendations_fallback_image`, if there is one.",
    )
    score: Annotated[float | None, Field(ge=-_HIGHEST, le=_HIGHEST), BeforeValidator(_number)] = (
        Field(
            default=None,
            description="How good it is for this reader: the highest comes first, items without a "
            "score come last. Without scores, the order of the list counts.",
            examples=[0.92],
        )
    )
    summary: Excerpt | None = Field(
        default=None,
        description="A few words of it in plain text, shown below the title.",
        examples=["Three quiet places within a walk from the station."],
    )
    expires_at: Instant | None = Field(
        default=None,
        description="From then on no email shows it.",
        examples=["2026-12-24T12:00:00Z"],
    )


class AnswerDetail(Offered):
    """What the service answers: the items for one reader. An empty list: nothing new."""

    items: Annotated[list[ItemDetail], Field(max_length=MOST_ITEMS)] = Field(
        description="The items, the best first. Each is accepted or left out by itself."
    )


_ITEM = TypeAdapter(ItemDetail)
_PICTURE = TypeAdapter(PictureDetail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normaliser:
    """Turns answers into items, the same way for every service.

    `source`: whose items they are. `hosts`: where links may lead; None: anywhere.
    `fallback_image`: the URL of a picture for items without one; empty: they have none.
    """

    source: str
    hosts: LinkHosts | None
    fallback_image: str

    def read(self, body: bytes, *, now: datetime) -> Answer:
        """The items in an answer, the best first, without those that are over or come twice.

        Raises SourceFailed if it is no answer at all.
        """
        found: dict[str, Item] = {}
        broken: list[Broken] = []
        items = _items_in(body)
        if len(items) > MOST_ITEMS:
            broken.append(Broken(MOST_ITEMS, "items", f"has {len(items)}: {MOST_ITEMS} at most"))
        for place, given in enumerate(items[:MOST_ITEMS]):
            item, wrong = self._item(place, given)
            broken += wrong
            if item and item.lasts_until(now):
                found.setdefault(item.id, item)
        return Answer(tuple(sorted(found.values(), key=_rank)), tuple(broken))

    def _item(self, place: int, given: object) -> tuple[Item | None, list[Broken]]:
        """The item, and what is wrong with it; an item is left out for anything but its picture."""
        wrong: list[Broken] = []
        image = None
        if isinstance(given, dict) and given.get("image") is not None:
            try:
                image = _PICTURE.validate_python(given["image"])
            except ValidationError as err:
                wrong = _wrong(place, err, "image", is_left_out=False)
            given = {name: each for name, each in given.items() if name != "image"}
        try:
            detail = _ITEM.validate_python(given, context=self.hosts)
        except ValidationError as err:
            return None, _wrong(place, err, is_left_out=True)
        item = Item(
            source=self.source,
            id=detail.id,
            title=detail.title,
            url=detail.url,
            published=detail.published,
            score=None if detail.score is None else float(detail.score),
            summary=detail.summary or "",
            expires_at=detail.expires_at,
        )
        return replace(item, image=self._image(image, detail.title)), wrong

    def _image(self, given: PictureDetail | None, title: str) -> Image | None:
        if given:
            return Image(given.url, given.text or title)
        return Image(self.fallback_image, title) if self.fallback_image else None


def _items_in(body: bytes) -> list[Any]:
    try:
        answer = read_json(body.decode("utf-8"))
    except UnicodeDecodeError as err:
        raise SourceFailed("The answer is not UTF-8.") from err
    except UnreadableError as err:
        raise SourceFailed(f"The answer is {err}.") from err
    if not isinstance(answer, dict) or not isinstance(answer.get("items"), list):
        raise SourceFailed("The answer has no list `items`.")
    return list(answer["items"])


def _wrong(place: int, err: ValidationError, *path: str, is_left_out: bool) -> list[Broken]:
    said = (each.partition(": ") for each in in_words(err, *path))
    return [Broken(place, field, why, is_left_out) for field, _, why in said]


def _rank(item: Item) -> float:
    """Sorts the best first; a sort keeps the order of equal ones."""
    return float("inf") if item.score is None else -item.score
