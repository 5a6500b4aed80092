"""One place turns an answer into items; what is broken is left out, never the answer."""

import json
from datetime import timedelta
from typing import Any

import pytest
from gazette.adapters.content.items import MOST_ITEMS, Normaliser
from gazette.domain.content.items import Answer, Broken
from gazette.domain.errors import SourceFailed
from gazette.domain.hosts import LinkHosts
from gazette.domain.model import Image
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gazette_support.adapters.published_contract import (
    answer_documents,
    answer_example,
    answer_schema,
)
from tests.builders import NOW
from tests.content_page import FOLDER

PICTURE = {"url": "https://example.com/a.png", "text": "A heron"}
ITEM = {
    "id": "a",
    "title": "On herons",
    "url": "https://example.com/a",
    "published": "2026-11-20T07:00:00Z",
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


def read(
    *items: Any, hosts: LinkHosts | None = None, fallback_image: str = "", **beside: Any
) -> Answer:
    """What becomes of an answer with these items."""
    normaliser = Normaliser(source="recommendations", hosts=hosts, fallback_image=fallback_image)
    return normaliser.read(json.dumps({"items": items, **beside}).encode(), now=NOW)


def ids(answer: Answer) -> list[str]:
    """The ids of the items, in order."""
    return [item.id for item in answer.items]


def test_item_without_optional_fields_is_accepted() -> None:
    (item,) = read(ITEM).items
    assert (item.id, item.title, item.score, item.summary, item.image) == (
        "a",
        "On herons",
        None,
        "",
        None,
    )


@pytest.mark.parametrize("field", ["image", "score", "summary", "expires_at"])
def test_null_means_missing_field(field: str) -> None:
    assert read({**ITEM, field: None}) == read(ITEM)


def test_unknown_field_is_ignored() -> None:
    assert read({**ITEM, "colour": "red"}, page=2) == read(ITEM)


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("id", "", "id"),
        ("id", 4711, "id: must be"),
        ("title", "two\nlines", "title: must be one line"),
        ("title", "x" * 201, "title"),
        ("url", "javascript:alert(1)", "url: must be an absolute http or https URL"),
        ("published", "yesterday", "published: must be a time"),
        ("published", None, "published"),
        ("score", "0.5", "score: must be a number"),
        ("score", True, "score: must be a number"),
        ("score", 1e300, "score"),
        ("summary", "\x00", "summary"),
        ("expires_at", "2026-11-20", "expires_at: must be a time"),
    ],
)
def test_invalid_item_is_omitted_and_other_items_are_kept(
    field: str, value: object, says: str
) -> None:
    found = read({**ITEM, field: value}, {**ITEM, "id": "b"})
    assert ids(found) == ["b"]
    assert [(each.place, each.is_left_out) for each in found.broken] == [(0, True)]
    assert f"{found.broken[0].field}: {found.broken[0].why}".startswith(says)


@pytest.mark.parametrize("item", [None, 3, "a", [], {}])
def test_invalid_item_is_omitted(item: object) -> None:
    assert ids(read(item, ITEM)) == ["a"]


def test_error_messages_do_not_quote_the_response() -> None:
    found = read({**ITEM, "url": "secret://reader@example.com"})
    assert "reader@example.com" not in str(found.broken)


def test_item_linking_to_disallowed_host_is_omitted() -> None:
    hosts = LinkHosts.of(["shop.example"])
    found = read(ITEM, {**ITEM, "id": "b", "url": "https://shop.example/b"}, hosts=hosts)
    assert ids(found) == ["b"]
    assert "link_hosts" in found.broken[0].why


@pytest.mark.parametrize("image", [None, "https://example.com/a.png", {"url": "http://a.example"}])
def test_missing_or_invalid_image_is_replaced_by_fallback(image: object) -> None:
    found = read({**ITEM, "image": image}, fallback_image="https://example.com/f.png")
    assert found.items[0].image == Image("https://example.com/f.png", "On herons")
    assert not any(each.is_left_out for each in found.broken)


def test_invalid_image_is_omitted_without_fallback() -> None:
    assert read({**ITEM, "image": {}}).items[0].image is None


def test_image_alt_text_defaults_to_title() -> None:
    with_text, without = (
        read({**ITEM, "image": image}).items[0].image
        for image in (PICTURE, {"url": PICTURE["url"]})
    )
    assert with_text == Image(PICTURE["url"], "A heron")
    assert without == Image(PICTURE["url"], "On herons")


def test_items_are_ordered_by_score_and_unscored_items_last() -> None:
    scores = {"a": None, "b": 0.1, "c": 2, "d": None, "e": -1}
    items = [{**ITEM, "id": name} | {"score": each} for name, each in scores.items()]
    assert ids(read(*items)) == ["c", "b", "e", "a", "d"]


def test_duplicate_item_is_kept_once() -> None:
    found = read(ITEM, {**ITEM, "title": "Again"})
    assert [item.title for item in found.items] == ["On herons"]


def test_expired_item_is_omitted_without_warning() -> None:
    over = (NOW - timedelta(seconds=1)).isoformat()
    assert read({**ITEM, "expires_at": over}) == Answer()


def test_items_after_the_hundredth_are_omitted_with_warning() -> None:
    items = [{**ITEM, "id": str(number)} for number in range(MOST_ITEMS)]
    assert read(*items).broken == ()
    found = read(*items, None, None)
    assert len(found.items) == MOST_ITEMS
    assert found.broken == (Broken(MOST_ITEMS, "items", "has 102; at most 100 are allowed"),)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "not JSON"),
        (b"<html>", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[]", "no list `items`"),
        (b'{"items": {}}', "no list `items`"),
        (b'{"items": [], "items": []}', "twice"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_invalid_response_counts_as_failed_request(body: bytes, says: str) -> None:
    normaliser = Normaliser(source="recommendations", hosts=None, fallback_image="")
    with pytest.raises(SourceFailed, match=says):
        normaliser.read(body, now=NOW)


@given(JSON)
def test_any_invalid_json_value_keeps_other_items(value: Any) -> None:
    found = read(value, {**ITEM, "image": value}, {**ITEM, "score": value}, {**ITEM, "id": "z"})
    assert {"a", "z"} <= set(ids(found))


@given(st.sampled_from(sorted({*ITEM, "image", "score", "summary", "expires_at"})), JSON)
def test_published_schema_accepts_every_valid_item(field: str, value: Any) -> None:
    """A schema cannot say that an instant exists, so it may accept more."""
    item = {**ITEM, field: value}
    fits = Draft202012Validator(answer_schema()).is_valid({"items": [item]})
    taken = not read(item).broken
    assert fits or not taken


def test_published_example_matches_schema_and_is_accepted() -> None:
    example = answer_example()
    Draft202012Validator(answer_schema()).validate(example)
    found = read(*example["items"])
    assert len(found.items) == len(example["items"])
    assert found.broken == ()


def test_generated_docs_are_up_to_date() -> None:
    written = {path.name: path.read_text() for path in FOLDER.iterdir()}
    assert written == answer_documents(), "run `make docs`"
