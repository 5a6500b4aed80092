"""DynamoDB's update expressions, as far as the adapters use them.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html
"""

from collections.abc import Callable
from decimal import Decimal
from functools import cache

from benchmarks.loopback.expressions import Item, Names, Tokens, Values, ordered, term_of

Change = Callable[[Item, Item, Names, Values], None]
"""A function that updates an item in place.

It receives the original item and the item to change.
"""


def updated(text: str, item: Item, names: Names, values: Values) -> Item:
    """Return an updated copy of the item."""
    after = dict(item)
    for change in _update(text):
        change(item, after, names, values)
    return after


@cache
def _update(text: str) -> tuple[Change, ...]:
    tokens = Tokens(text)
    changes: list[Change] = []
    while clause := tokens.take().upper():
        changes.append(_CLAUSES[clause](tokens))
        while tokens.peek() == ",":
            tokens.take()
            changes.append(_CLAUSES[clause](tokens))
    return tuple(changes)


def _set(tokens: Tokens) -> Change:
    token = tokens.take()
    tokens.expect("=")
    first, sign, second = term_of(tokens), "", None
    if tokens.peek() in {"+", "-"}:
        sign, second = tokens.take(), term_of(tokens)

    def change(before: Item, after: Item, names: Names, values: Values) -> None:
        value = first(before, names, values)
        if second is not None:
            one, other = ordered(value), ordered(second(before, names, values))
            value = {"N": str(one + other if sign == "+" else one - other)}
        if value is None:
            raise ValueError(f"{names.get(token, token)} is set to a missing value")
        after[names.get(token, token)] = value

    return change


def _remove(tokens: Tokens) -> Change:
    token = tokens.take()

    def change(_: Item, after: Item, names: Names, __: Values) -> None:
        after.pop(names.get(token, token), None)

    return change


def _add(tokens: Tokens) -> Change:
    token, term = tokens.take(), term_of(tokens)

    def change(before: Item, after: Item, names: Names, values: Values) -> None:
        name, added = names.get(token, token), term(before, names, values)
        if added is None:
            raise ValueError(f"a missing value is added to {name}")
        ((kind, content),) = added.items()
        had = before.get(name, {}).get(kind)
        if kind == "N":
            after[name] = {kind: str(Decimal(had or 0) + Decimal(content))}
        else:
            after[name] = {kind: sorted({*(had or ()), *content})}

    return change


def _delete(tokens: Tokens) -> Change:
    token, term = tokens.take(), term_of(tokens)

    def change(before: Item, after: Item, names: Names, values: Values) -> None:
        name, taken = names.get(token, token), term(before, names, values)
        ((kind, content),) = (taken or {}).items()
        left = sorted({*before.get(name, {}).get(kind, ())} - {*content})
        after.pop(name, None)
        if left:
            after[name] = {kind: left}

    return change


_CLAUSES: dict[str, Callable[[Tokens], Change]] = {
    "SET": _set,
    "REMOVE": _remove,
    "ADD": _add,
    "DELETE": _delete,
}
