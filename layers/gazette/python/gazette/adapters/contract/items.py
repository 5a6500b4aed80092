"""The answer of a recommendation service, and its conversion into items.

docs/content is generated from the models. Unlike in an event, an unknown field is ignored, and null
stands for a missing one. The service may have other clients, and an error would be noticed too
late.
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
"""The limit of items in an answer. Further ones are ignored."""

_HIGHEST = 1e9


def _number(value: object) -> object:
    """Return a JSON number. Raise ValueError for others; pydantic would accept `true` and `"1"`."""
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
        description="Its address: an absolute https URL, percent-encoded, on any host.",
        examples=["https://example.com/a1.png"],
    )
    text: Line | None = Field(
        default=None,
        description="A description of the picture on one line, for readers who do not see it. By "
        "default the title of the item.",
        examples=["A heron on one leg"],
    )


class ItemDetail(Offered):
    """An item that the service recommends to this reader. An invalid item is left out."""

    id: Key = Field(
        description="Your id of the item. A digest does not repeat items of the reader's earlier "
        "digests, which it recognises by this id.",
        examples=["article-4711"],
    )
    title: Line = Field(
        description="One line of plain text, which links to the item.",
        examples=["How to watch birds in a city"],
    )
    url: Url = Field(
        description="The target of the link: an absolute http or https URL, percent-encoded, to "
        "one of the hosts in the setting `link_hosts`, if there are any.",
        examples=["https://example.com/articles/4711"],
    )
    published: Instant = Field(
        description="The time of its publication, with the offset from UTC. Shown in the reader's "
        "time zone.",
        examples=["2026-11-20T07:00:00Z"],
    )
    image: PictureDetail | None = Field(
        default=None,
        description="A picture of the item. If it is missing or invalid, the item gets that of "
        "the setting `recommendations_fallback_image`, if there is one.",
    )
    score: Annotated[float | None, Field(ge=-_HIGHEST, le=_HIGHEST), BeforeValidator(_number)] = (
        Field(
            default=None,
            description="The value of the item for this reader. The highest is first, and items "
            "without a score are last. Without scores, the order of the list applies.",
            examples=[0.92],
        )
    )
    summary: Excerpt | None = Field(
        default=None,
        description="A summary in plain text, shown below the title.",
        examples=["Three quiet places within a walk from the station."],
    )
    expires_at: Instant | None = Field(
        default=None,
        description="The time from which no email shows the item.",
        examples=["2026-12-24T12:00:00Z"],
    )


class AnswerDetail(Offered):
    """The answer of the service: the items for one reader.

    An empty list means that there are no new ones.
    """

    items: Annotated[list[ItemDetail], Field(max_length=MOST_ITEMS)] = Field(
        description="The items, the best first. Each is accepted or left out by itself."
    )


_ITEM = TypeAdapter(ItemDetail)
_PICTURE = TypeAdapter(PictureDetail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normaliser:
    """The conversion of answers into items, the same for every service."""

    source: str
    """The source of the items."""

    hosts: LinkHosts | None
    """The hosts to which links may lead. None for any."""

    fallback_image: str
    """The URL of a picture for items without one. Empty for none."""

    def read(self, body: bytes, *, now: datetime) -> Answer:
        """Return the items in an answer, the best first, without expired items and duplicates.

        Raise SourceFailed if it is not an answer at all.
        """
        items_by_id: dict[str, Item] = {}
        broken: list[Broken] = []
        items = _items_in(body)
        if len(items) > MOST_ITEMS:
            broken.append(Broken(MOST_ITEMS, "items", f"has {len(items)}: {MOST_ITEMS} at most"))
        for place, raw in enumerate(items[:MOST_ITEMS]):
            item, wrong = self._item(place, raw)
            broken += wrong
            if item and item.lasts_until(now):
                items_by_id.setdefault(item.id, item)
        return Answer(tuple(sorted(items_by_id.values(), key=_rank)), tuple(broken))

    def _item(self, place: int, raw: object) -> tuple[Item | None, list[Broken]]:
        """Return the item and its errors. Any error but one in its picture excludes the item."""
        wrong: list[Broken] = []
        image = None
        if isinstance(raw, dict) and raw.get("image") is not None:
            try:
                image = _PICTURE.validate_python(raw["image"])
            except ValidationError as err:
                wrong = _wrong(place, err, "image", is_left_out=False)
            raw = {name: each for name, each in raw.items() if name != "image"}
        try:
            detail = _ITEM.validate_python(raw, context=self.hosts)
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

    def _image(self, picture: PictureDetail | None, title: str) -> Image | None:
        if picture:
            return Image(picture.url, picture.text or title)
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
    problems = (each.partition(": ") for each in in_words(err, *path))
    return [Broken(place, field, why, is_left_out) for field, _, why in problems]


def _rank(item: Item) -> float:
    """Return a key that sorts the best first. A sort keeps the order of equal ones."""
    return float("inf") if item.score is None else -item.score
