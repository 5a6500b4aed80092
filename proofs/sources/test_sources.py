"""Tests of the counts of `make sources`."""

from email.message import EmailMessage
from pathlib import Path

import pytest

from demo.ses import Accepted
from proofs.sources.__main__ import sources
from proofs.sources.audit import look
from proofs.sources.behaviours import BEHAVIOURS, Refusing, Thrashing, item_ids
from proofs.sources.service import Asked, most_in


def an_email(user_id: str, *paths: str) -> Accepted:
    """Return an email to a reader with these links."""
    message = EmailMessage()
    message.set_content("\n".join(f"  https://example.com/{path}" for path in paths))
    return Accepted("m", f"{user_id}@example.com", {"run": f"{user_id}-daily-1"}, message)


def asked(at: float, in_progress: int = 1) -> Asked:
    """Return a request for Ann."""
    return Asked(at, 1, {"user_id": "ann"}, {}, in_progress)


def test_what_is_lost_and_what_comes_twice_is_counted() -> None:
    emails = [an_email("ann", "posts/annxpost", "annx0"), an_email("ann", "annx0", "bobx1")]
    found = look(["ann", "bob"], ["ann", "bob"], emails)
    assert (found.digests, found.with_items, found.without) == (2, 2, 0)
    assert (found.lost, found.twice, found.foreign) == (1, 1, 1)


def test_a_digest_of_events_alone_goes_without() -> None:
    found = look(["ann"], ["ann"], [an_email("ann", "posts/annxpost")])
    assert (found.with_items, found.without, found.lost, found.twice) == (0, 1, 0, 0)


def test_emails_of_others_do_not_count() -> None:
    assert look(["ann"], [], [an_email("bob", "bobx0")]).digests == 0


@pytest.mark.parametrize(
    ("times", "most"), [((), 0), ((0.5, 1.5), 1), ((0.5, 1.4, 1.49), 3), ((0, 0, 0, 5), 3)]
)
def test_the_most_in_a_second_is_of_any_second(times: tuple[float, ...], most: int) -> None:
    assert most_in([asked(at) for at in times], 1) == most


def test_who_refuses_says_for_how_long_and_then_answers() -> None:
    service = Refusing(seconds=20)
    assert service(asked(100)).headers["Retry-After"] == "21"
    assert service(asked(119)).status == 429
    assert service(asked(121)).status == 200


def test_who_thrashes_takes_longer_the_more_requests_come() -> None:
    service = Thrashing()
    first, *_, last = (service(asked(service.looked + nth / 4)).delay for nth in range(8))
    assert first < 1 < last


def test_each_behaviour_is_made_anew_and_names_no_other_reader() -> None:
    assert all(made() for made in BEHAVIOURS.values())
    assert {each.partition("x")[0] for each in item_ids("ann")} == {"ann"}


@pytest.mark.e2e
@pytest.mark.enable_socket
def test_a_service_that_fails_costs_no_digest_and_nothing_comes_twice(tmp_path: Path) -> None:
    said: list[str] = []
    status = sources(["failing"], 6, folder=tmp_path, progress=said.append, days_after=[1])
    assert status == 0, said
    assert "lost=0 twice=0 items_missing=0" in said[-1]
