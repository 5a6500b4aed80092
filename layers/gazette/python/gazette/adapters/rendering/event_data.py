"""The custom data of events, as templates see it: without hidden characters, and immutable."""

from typing import Any, NoReturn

from gazette.domain.window.naming import without_hidden


def seen_in(value: Any) -> Any:
    """Return a copy of an event's custom data without hidden characters.

    The data is small, so it is not shortened.
    """
    if isinstance(value, str):
        return without_hidden(value)
    if isinstance(value, list):
        return FixedList([seen_in(each) for each in value])
    if isinstance(value, dict):
        return FixedDict({without_hidden(name): seen_in(each) for name, each in value.items()})
    return value


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("the data of an event cannot be changed, because other readers share it")


class FixedDict(dict[str, Any]):
    """An immutable dictionary for an object in a service's data. Cached blocks of many readers
    share the data.
    """

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


class FixedList(list[Any]):
    """An immutable list for an array in a service's data. Cached blocks of many readers share the
    data.
    """

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = _refuse
    remove = reverse = sort = _refuse
