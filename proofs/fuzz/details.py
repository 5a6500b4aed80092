"""Details that services might publish: valid, slightly invalid, and nonsensical."""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from gazette.adapters.contract.details import HappeningDetail
from hypothesis import strategies as st

from gazette_support.adapters.published_contract import example
from tests.builders import NOW

USERS = ["ann", "bo", "cy", "dee"]
_NASTY = [
    "",
    " ",
    "\x00",
    "a\nb",
    "\u202eevil",
    "\ud800",
    "\uffff",
    "<script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "x" * 1001,
    "é" * 70,
    "😀",
    "ann\r\nBcc: bo@example.com",
    "javascript:alert(1)",
    "https://example.com/p1",
    "HTTPS://EXAMPLE.COM",
    "https://exa mple.com",
    "//example.com",
    "Europe/Berlin",
    "Mars/Olympus",
    "../../etc/passwd",
    "localtime",
    "2026-11-21T09:30:00Z",
    "2026-11-21T09:30:00",
    "2026-02-30T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00+14:00",
    "never",
    "hourly",
    "ann@example.com",
    "ann@@example.com",
    "Ann <ann@example.com>",
]
_ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    24,
    1.5,
    2**70,
    float("nan"),
    float("inf"),
    [],
    {},
    [[]],
    {"a": []},
]

junk: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(_NASTY),
    st.sampled_from(_ODD),
    st.text(max_size=40),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=8,
    ),
)

_instant = st.integers(0, 30_000).map(
    lambda minutes: (NOW - timedelta(minutes=minutes)).isoformat()
)
_frequency = st.sampled_from(["never", "immediate", "daily", "weekly", "custom"])
_chosen = _frequency | st.just("default")
_category = st.sampled_from(["comment", "like", "mention"])
_image = st.just("https://example.com/1.png")
_optional: dict[str, st.SearchStrategy[Any]] = {
    name: st.just(each)
    for name, each in example(HappeningDetail).items()
    if not HappeningDetail.model_fields[name].is_required()
} | {
    "actor": st.fixed_dictionaries(
        {"id": st.sampled_from(USERS), "name": st.just("Bo")},
        optional={"url": st.just("https://example.com/bo"), "avatar": _image},
    ),
    "excerpt": st.just("Well said."),
    "amended_at": _instant,
    "importance": st.sampled_from(["low", "normal", "high"]),
    "expires_at": st.integers(-30_000, 30_000).map(
        lambda minutes: (NOW + timedelta(minutes=minutes)).isoformat()
    ),
    "data": st.dictionaries(st.sampled_from(["a", "b"]), junk),
}

Details = dict[str, st.SearchStrategy[Any]]
"""The details by detail type."""


def _entity(reference: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda reference, title, more: {
            **reference,
            "title": title,
            "url": "https://example.com/p1",
            **more,
        },
        reference,
        st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Cn")), min_size=1),
        st.sampled_from([{}, {"image": {"url": "https://example.com/1.png", "text": "One"}}]),
    )


def _list(name: str, item: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({name: st.lists(item | junk, min_size=1, max_size=5)})


def _profile(user: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {
            "user_id": user,
            "email": user.map(lambda user: f"{user}@example.com"),
            "name": st.just("Ann"),
            "time_zone": st.sampled_from(["Europe/Berlin", "Asia/Tokyo", "UTC"]),
            "changed_at": _instant,
        },
        optional={
            "frequencies": st.dictionaries(_category, _frequency),
            "digest": st.fixed_dictionaries(
                {},
                optional={
                    "hour": st.integers(0, 23),
                    "minute": st.integers(0, 59),
                    "paused_until": st.integers(-9, 99).map(
                        lambda days: (NOW + timedelta(days=days)).date().isoformat()
                    ),
                },
            ),
        },
    )


def _details(users: Sequence[str], ids: Sequence[str], entities: Sequence[str]) -> Details:
    """Return the details of these readers and ids. The first reader is never erased."""
    user, id_ = st.sampled_from(users), st.sampled_from(ids)
    reference = st.fixed_dictionaries(
        {"type": st.sampled_from(["post", "comment"]), "id": st.sampled_from(entities)}
    )
    happening = {
        "id": id_,
        "category": _category,
        "entity": _entity(reference),
        "occurred_at": _instant,
    }
    event = st.fixed_dictionaries({**happening, "user_id": user}, optional=_optional)
    change = {"user_id": user, "entity": reference, "changed_at": _instant}
    follow = st.fixed_dictionaries(change, optional={"frequency": _frequency})
    visit = st.fixed_dictionaries({"user_id": user, "entity": reference, "seen_at": _instant})
    profile = _profile(user)
    return {
        "event.created": event | _list("events", event),
        "activity.created": st.fixed_dictionaries(
            happening, optional={**_optional, "parent": reference}
        ),
        "event.retracted": st.fixed_dictionaries({"id": id_, "user_id": user})
        | st.fixed_dictionaries({"id": id_, "entity": reference}),
        "subscriber.changed": profile | _list("subscribers", profile),
        "preferences.chosen": st.fixed_dictionaries(
            {"user_id": user, "chosen_at": _instant, "frequency": _chosen},
            optional={
                "frequencies": st.dictionaries(_category, _chosen),
                "time_zone": st.sampled_from(["Europe/Berlin", "Asia/Tokyo", "UTC"]),
                "digest": st.fixed_dictionaries({"hour": st.integers(0, 23)}),
            },
        ),
        "subscriber.active": st.fixed_dictionaries({"user_id": user, "active_at": _instant}),
        "entity.seen": visit | _list("seen", visit),
        "subscriber.deleted": st.fixed_dictionaries(
            {"user_id": st.sampled_from(users[1:]), "deleted_at": _instant}
        ),
        "follow.created": follow | _list("follows", follow),
        "follow.deleted": st.fixed_dictionaries(change),
    }


DETAILS = _details(USERS, [f"id{number}" for number in range(31)], ["p1", "p2", "c|#1"])
_CLOSE = _details(["ann", "bo"], ["id0", "id1"], ["p1"])
"""Details of few readers and entities, so that most messages of a batch interact."""


@st.composite
def _mutated(draw: st.DrawFn, detail: Any) -> Any:
    """Draw a valid detail with one field removed, added or changed."""
    copy = json.loads(json.dumps(detail))
    place = copy
    while True:
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        if not keys:
            return copy
        key = draw(st.sampled_from(keys))
        inner = place[key]
        if isinstance(inner, dict | list) and inner and draw(st.booleans()):
            place = inner
            continue
        change = draw(st.sampled_from(["drop", "add", "replace", "replace"]))
        if change == "drop":
            del place[key]
        elif change == "add" and isinstance(place, dict):
            place[draw(st.text(max_size=10))] = draw(junk)
        else:
            place[key] = draw(junk)
        return copy


def _envelope(detail_type: object, detail: object) -> str:
    return json.dumps(
        {
            "version": "0",
            "id": "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
            "detail-type": detail_type,
            "source": "fuzz",
            "account": "123456789012",
            "time": "2026-11-22T07:00:00Z",
            "region": "us-east-1",
            "resources": [],
            "detail": detail,
        }
    )


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """Draw the body of a message on the ingest queue."""
    kind = draw(st.sampled_from(["right"] * 6 + ["mutated"] * 4 + ["odd", "cut", "raw"]))
    detail_type = draw(st.sampled_from(sorted(DETAILS)))
    detail = draw(DETAILS[detail_type])
    match kind:
        case "right":
            return _envelope(detail_type, detail)
        case "mutated":
            return _envelope(detail_type, draw(_mutated(detail)))
        case "odd":
            return _envelope(draw(junk | st.just(detail_type)), draw(junk))
        case "cut":
            whole = _envelope(detail_type, detail)
            return whole[: draw(st.integers(0, len(whole)))]
        case _:
            return draw(st.one_of(st.text(max_size=60), st.just("[" * 100_000)))


@st.composite
def _close_bodies(draw: st.DrawFn) -> str:
    detail_type = draw(st.sampled_from(sorted(_CLOSE)))
    return _envelope(detail_type, draw(_CLOSE[detail_type]))


def batches() -> st.SearchStrategy[list[str]]:
    """Draw the bodies of up to ten messages, either any or valid ones that interact."""
    return st.lists(bodies(), min_size=1, max_size=10) | st.lists(
        _close_bodies(), min_size=1, max_size=10
    )
