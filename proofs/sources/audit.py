"""An audit of the emails that arrived."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gazette.domain.identity import parse_run_id

from demo.ses import Accepted

_LINK = re.compile(r"https://example\.com/(posts/)?([\w-]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The findings in the emails to some readers.

    `lost` are events of these readers in no email. `twice` are events and items that a reader got
    more than once. `foreign` are those of another reader.
    """

    digests: int
    with_items: int
    without: int
    lost: int
    twice: int
    foreign: int


def look(readers: Iterable[str], with_event: Iterable[str], emails: Iterable[Accepted]) -> Found:
    """Count. `with_event` are the readers who had one event each."""
    known = set(readers)
    shown: Counter[tuple[str, str]] = Counter()
    digests = with_items = foreign = 0
    for mail in emails:
        user_id = parse_run_id(mail.tags["run"]).user_id
        if user_id not in known:
            continue
        digests += 1
        links = {*_LINK.findall(mail.part("plain"))}
        with_items += any(not is_post for is_post, _ in links)
        foreign += sum(name.partition("x")[0] != user_id for _, name in links)
        shown.update((user_id, name) for _, name in links)
    events = {(user_id, f"{user_id}xpost") for user_id in with_event}
    return Found(
        digests=digests,
        with_items=with_items,
        without=digests - with_items,
        lost=len(events - shown.keys()),
        twice=sum(times - 1 for times in shown.values()),
        foreign=foreign,
    )
