"""Models of a recommendation service's response, and the conversion of responses into items.

docs/content is generated from the models. Unlike in events, unknown fields are ignored, and null
means that a field is missing. The service may serve further clients, and rejected responses would
be noticed too late.
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
from gazette.domain.content.items import Answer, Broken, Item
from gazette.domain.errors import SourceFailed
from gazette.domain.hosts import LinkHosts
from gazette.domain.model import Image

MOST_ITEMS = 100
"""The maximum number of items in a response. Further items are ignored."""

_HIGHEST = 1e9


def _number(value: object) -> object:
    """Return a JSON number. Raises ValueError for `true` and `"1"`, which pydantic would accept."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")  # noqa: TRY004 -- pydantic reports ValueErrors
    return value


class Offered(BaseModel):
    """The base class for parts of the response. Unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class PictureDetail(Offered):
    """An image that templates may show."""

    url: ImageUrl = Field(
        description="The image's address: an absolute https URL, percent-encoded, on any host.",
        examples=["https://example.com/a1.png"],
    )
    text: Line | None = Field(
        default=None,
        description="Alt text on one line, for readers who cannot see the image. The default is "
        "the item's title.",
        examples=["A heron on one leg"],
    )


class ItemDetail(Offered):
    """An item that the service recommends to this reader. Invalid items are skipped."""

    id: Key = Field(
        description="Your id for the item. A digest does not repeat an item with the same id from "
        "the reader's earlier digests.",
        examples=["article-4711"],
    )
    title: Line = Field(
        description="The title: one line of plain text, which links to the item.",
        examples=["How to watch birds in a city"],
    )
    url: Url = Field(
        description="The URL that the title links to: an absolute http or https URL, "
        "percent-encoded. If the `link_hosts` setting is not empty, the setting must allow the "
        "URL's host.",
        examples=["https://example.com/articles/4711"],
    )
    published: Instant = Field(
        description="The time at which the item was published, with the offset from UTC. It is "
        "shown in the reader's time zone.",
        examples=["2026-11-20T07:00:00Z"],
    )
    image: PictureDetail | None = Field(
        default=None,
        description="An image of the item. If the image is missing or invalid, the item shows the "
        "stage's fallback image (`recommendations_fallback_image`), if any.",
    )
    score: Annotated[float | None, Field(ge=-_HIGHEST, le=_HIGHEST), BeforeValidator(_number)] = (
        Field(
            default=None,
            description="The relevance of the item to this reader. Items are sorted by descending "
            "score, and items without a score come last. Items with equal or no scores keep the "
            "order of the list.",
            examples=[0.92],
        )
    )
    summary: Excerpt | None = Field(
        default=None,
        description="A plain-text summary, shown below the title.",
        examples=["Three quiet places within a walk from the station."],
    )
    expires_at: Instant | None = Field(
        default=None,
        description="The time at which emails stop showing the item.",
        examples=["2026-12-24T12:00:00Z"],
    )


class AnswerDetail(Offered):
    """The response of the service: the items for one reader.

    An empty list means that there are no new items.
    """

    items: Annotated[list[ItemDetail], Field(max_length=MOST_ITEMS)] = Field(
        description="The items, best first. Each item is accepted or skipped separately."
    )


_ITEM = TypeAdapter(ItemDetail)
_PICTURE = TypeAdapter(PictureDetail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normaliser:
    """A converter of service responses into items, for any recommendation service."""

    source: str
    """The source of the items."""

    hosts: LinkHosts | None
    """The hosts that links may point to. None allows any host."""

    fallback_image: str
    """The URL of the default image, for items without an image. An empty string means no image."""

    def read(self, body: bytes, *, now: datetime) -> Answer:
        """Return the items in a response, best first, without expired items and duplicates.

        Raises SourceFailed if the body is not a valid response.
        """
        items_by_id: dict[str, Item] = {}
        broken: list[Broken] = []
        items = _items_in(body)
        if len(items) > MOST_ITEMS:
            broken.append(
                Broken(MOST_ITEMS, "items", f"has {len(items)}; at most {MOST_ITEMS} are allowed")
            )
        for place, raw in enumerate(items[:MOST_ITEMS]):
            item, wrong = self._item(place, raw)
            broken += wrong
            if item and item.lasts_until(now):
                items_by_id.setdefault(item.id, item)
        return Answer(tuple(sorted(items_by_id.values(), key=_rank)), tuple(broken))

    def _item(self, place: int, raw: object) -> tuple[Item | None, list[Broken]]:
        """Parse an item of the response. Return the item, if valid, and its errors.

        An item with an error is skipped unless only the image is invalid.
        """
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
        raise SourceFailed("The response is not UTF-8.") from err
    except UnreadableError as err:
        raise SourceFailed(f"The response is {err}.") from err
    if not isinstance(answer, dict) or not isinstance(answer.get("items"), list):
        raise SourceFailed("The response has no list `items`.")
    return list(answer["items"])


def _wrong(place: int, err: ValidationError, *path: str, is_left_out: bool) -> list[Broken]:
    problems = (each.partition(": ") for each in in_words(err, *path))
    return [Broken(place, field, why, is_left_out) for field, _, why in problems]


def _rank(item: Item) -> float:
    """Return a sort key that puts the best items first. Equal items keep their order."""
    return float("inf") if item.score is None else -item.score
