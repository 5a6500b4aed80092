"""Which links work, after changes of address, erasures, returns, rotations, leaks and time.

The model knows the mailboxes and who owned them when, and nothing of tokens.
"""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import permutations

import pytest
from gazette.adapters.web.links import LinkReader, SignedLinks
from gazette.domain.commands import ChangeSubscriber, EraseSubscriber
from gazette.domain.errors import InvalidToken
from gazette.domain.identity import address_hash
from gazette.domain.links import (
    DIGESTS,
    EVERYTHING,
    MOST_NAMED,
    LinkKeys,
    LinkToken,
    Purpose,
    Scope,
    ScopeKind,
    entity_mark,
    immediate_of,
    read_link,
    sign,
)
from gazette.domain.model import DAILY, RunKey
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.preferences.requests import show
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.builders import KEY, NOW, SettableClock, a_link, a_subscriber
from tests.world import World

SCOPES = (
    EVERYTHING,
    DIGESTS,
    Scope(ScopeKind.IMMEDIATE),
    immediate_of(["mention", "job_offer2"]),
    Scope(ScopeKind.CATEGORY, ("mention",)),
    Scope(ScopeKind.ENTITY, (entity_mark("post#1"), entity_mark("blog#é"))),
)
MAILBOXES = ("ann@example.com", "ann@work.example", "somebody@example.com")


@dataclass(frozen=True)
class Email:
    """An email that somebody has: in which mailbox, and how to tell what became of its owner."""

    mailbox: str
    ownership: int
    key: str
    issued_on: date
    unsubscribe: str
    preferences: str


class WhichLinksWork(RuleBasedStateMachine):
    """`ownership` counts how often the user id got another mailbox, or another owner."""

    @initialize()
    def begin(self) -> None:
        self.world = World()
        self.keys = LinkKeys({"k1": b"1" * 32})
        self.emails: list[Email] = []
        self.ownership = 0
        self.mailbox: str | None = None
        self.suppressed: set[str] = set()
        self.change_address(MAILBOXES[0])

    @property
    def reader(self) -> LinkReader:
        return LinkReader(keys=lambda: self.keys, clock=self.world.clock)

    @rule(mailbox=st.sampled_from(MAILBOXES))
    def change_address(self, mailbox: str) -> None:
        """Or come back, if the id was erased."""
        self.pass_time(timedelta(minutes=1))
        profile = a_subscriber(changed_at=self.world.clock(), email=mailbox)
        self.world.say(ChangeSubscriber(profile))
        self.ownership += mailbox != self.mailbox
        self.mailbox = mailbox

    @rule()
    def erase(self) -> None:
        self.pass_time(timedelta(minutes=1))
        self.world.say(EraseSubscriber("ann", self.world.clock()))
        self.suppressed = set(self.world.suppressions.rows)
        self.mailbox = None

    @precondition(lambda self: self.mailbox)
    @rule()
    def send(self) -> None:
        reader = self.world.subscribers.get("ann")
        assert isinstance(reader, Subscriber)
        assert self.mailbox
        token = LinkToken.of(RunKey("ann", DAILY, 1), self.world.clock(), reader)
        links = SignedLinks(base_url="https://example.com", keys=lambda: self.keys).links(token)
        self.emails.append(
            Email(
                self.mailbox,
                self.ownership,
                self.keys.newest,
                self.world.clock().date(),
                links.unsubscribe.rpartition("/")[2],
                links.preferences.rpartition("/")[2],
            )
        )

    @rule(days=st.sampled_from((1, 89, 90, 640, 700)))
    def wait(self, days: int) -> None:
        self.pass_time(timedelta(days=days))

    @rule()
    def rotate(self) -> None:
        self.keys = self.keys.with_next(str(len(self.keys.ids)) * 32)

    @precondition(lambda self: len(self.keys.ids) > 1)
    @rule()
    def retire(self) -> None:
        self.keys = self.keys.without(self.keys.ids[0])

    @precondition(lambda self: self.emails)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        """By any email that there ever was, whoever has it."""
        email = data.draw(st.sampled_from(self.emails))
        before = self.world.subscribers.get("ann")
        if not self.may_leave(email):
            with pytest.raises(InvalidToken):
                self.reader.read(email.unsubscribe, Purpose.UNSUBSCRIBE)
            return
        found = self.world.leave(self.reader.read(email.unsubscribe, Purpose.UNSUBSCRIBE))
        self.suppressed.add(address_hash(email.mailbox))
        after = self.world.subscribers.get("ann")
        assert found == (email.mailbox == self.mailbox)
        assert after == before if not found else isinstance(after, Subscriber) and after.has_left

    def may_leave(self, email: Email) -> bool:
        age = self.world.clock().date() - email.issued_on
        return email.key in self.keys.ids and age <= timedelta(days=730)

    def may_choose(self, email: Email) -> bool:
        age = self.world.clock().date() - email.issued_on
        is_in_time = email.key in self.keys.ids and age <= timedelta(days=90)
        is_owner = email.mailbox == self.mailbox and email.ownership == self.ownership
        return is_in_time and is_owner

    def pass_time(self, time: timedelta) -> None:
        self.world.clock.now += time

    @invariant()
    def only_the_owner_of_the_address_on_file_can_choose(self) -> None:
        for email in self.emails:
            try:
                link = self.reader.read(email.preferences, Purpose.PREFERENCES)
                shown = show(link, context=self.world.page_context())
            except InvalidToken:
                assert not self.may_choose(email), email
            else:
                assert self.may_choose(email), email
                assert shown.overview.subscriber.email == email.mailbox

    @invariant()
    def only_addresses_that_asked_for_it_are_suppressed(self) -> None:
        assert set(self.world.suppressions.rows) == self.suppressed


TestWhichLinksWork = WhichLinksWork.TestCase
TestWhichLinksWork.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def address(world: World, email: str, *, after: timedelta = timedelta(minutes=1)) -> LinkToken:
    """Ann gets an address, and an email there; returns what its links say."""
    world.clock.now += after
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), email=email)))
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return LinkToken.of(KEY, world.clock(), reader)


def can_choose(link: LinkToken, world: World) -> bool:
    try:
        show(link, context=world.page_context())
    except InvalidToken:
        return False
    return True


def test_attack_former_address_owner_cannot_change_choices() -> None:
    world = World()
    first, second, third = (address(world, MAILBOXES[number]) for number in (0, 1, 0))
    assert [can_choose(link, world) for link in (first, second, third)] == [False, False, True]


def test_attack_momentary_address_owner_cannot_change_choices() -> None:
    """Of profiles that a service dates alike, one prevails: the last by its content."""
    world = World()
    emails = sorted(MAILBOXES)
    links = [address(world, email, after=timedelta(0)) for email in emails]
    assert links[1].since == links[2].since
    assert [can_choose(link, world) for link in links] == [False, False, True]


def test_attack_former_owner_of_id_cannot_change_choices() -> None:
    world = World()
    before = address(world, MAILBOXES[0])
    world.clock.now += timedelta(minutes=1)
    world.say(EraseSubscriber("ann", world.clock()))
    assert not can_choose(before, world)
    assert can_choose(address(world, MAILBOXES[0]), world)
    assert not can_choose(before, world)


def test_attack_erasure_invalidates_links_in_any_order() -> None:
    """Also where the profile of the return has overtaken it."""
    for order in permutations(range(3)):
        world = World()
        first = a_subscriber(changed_at=NOW)
        commands = (
            ChangeSubscriber(first),
            EraseSubscriber("ann", NOW + timedelta(minutes=1)),
            ChangeSubscriber(a_subscriber(changed_at=NOW + timedelta(minutes=2))),
        )
        world.clock.now += timedelta(minutes=3)
        for number in order:
            world.say(commands[number])
        assert not can_choose(LinkToken.of(KEY, NOW, first), world), order
        back = world.subscribers.get("ann")
        assert isinstance(back, Subscriber)
        assert back.addressed_after == NOW + timedelta(minutes=1), order


def test_address_capitalization_change_keeps_links_valid() -> None:
    """No provider tells them apart (identity.address_hash)."""
    world = World()
    link = address(world, MAILBOXES[0])
    address(world, MAILBOXES[0].title())
    assert can_choose(link, world)


def test_attack_expired_link_opens_no_page(clock: SettableClock) -> None:
    """A mailbox is lost, an email is forwarded: some day its links end."""
    keys = LinkKeys({"k1": b"1" * 32})
    reader = LinkReader(keys=lambda: keys, clock=clock)
    token = sign(a_link().to_text(), purpose=Purpose.PREFERENCES, keys=keys)
    assert reader.read(token, Purpose.PREFERENCES) == a_link()
    clock.now += timedelta(days=91)
    with pytest.raises(InvalidToken):
        reader.read(token, Purpose.PREFERENCES)


@pytest.mark.parametrize(
    ("purpose", "days"),
    [
        (Purpose.UNSUBSCRIBE, 730),
        (Purpose.PREFERENCES, 90),
        (Purpose.RUN, 90),
        (Purpose.UPDATES, 90),
    ],
)
def test_link_expires_after_days_allowed_for_purpose(purpose: Purpose, days: int) -> None:
    link = a_link()
    last = NOW.date() + timedelta(days=days)
    assert not link.has_expired(purpose, last)
    assert link.has_expired(purpose, last + timedelta(days=1))


def test_link_with_unknown_scope_does_not_unsubscribe_from_everything() -> None:
    """After a rollback, who leaves one thing must not leave everything."""
    text = a_link().to_text()
    for unknown in ("digests", "x", "x:mention", "i:", "c", "e", "c:Mention", "e:short", "all:x"):
        with pytest.raises(InvalidToken):
            read_link(text.replace(".all.", f".{unknown}."))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ann-daily-1",
        a_link().to_text() + ".",
        a_link().to_text() + "A",
        a_link().to_text().replace("-daily-", "-daily-0"),
        a_link().to_text().replace(".all..", ".all.00."),
        a_link().to_text().replace(".all..", ".all.99999999999999999999999."),
        a_link().to_text().replace(".all..", ".all.x."),
    ],
)
def test_signed_token_that_is_not_a_link_is_rejected(text: str) -> None:
    """No key signs such a text: but if one ever did, it must not be taken for something else."""
    with pytest.raises(InvalidToken):
        read_link(text)


def test_longest_link_fits_in_email_header() -> None:
    """SES takes 870 characters for the value of a header; RFC 5322 wants lines below 998."""
    reader = replace(a_subscriber("~" * 64), addressed_after=NOW)
    link = LinkToken.of(RunKey("~" * 64, "n" * 24, 9_999_999_999), NOW, reader)
    keys = LinkKeys({"k999999": b"1" * 32})
    for categories in (["c" * 32] * MOST_NAMED, ["c" * 32] * (MOST_NAMED + 1)):
        text = replace(link, scope=immediate_of(categories)).to_text()
        token = sign(text, purpose=Purpose.UNSUBSCRIBE, keys=keys)
        assert len(token) < 870 - len("<https:///unsubscribe/>") - 64


def test_link_content_round_trips() -> None:
    reader = replace(a_subscriber(), addressed_after=NOW + timedelta(microseconds=1))
    for link in (a_link(), LinkToken.of(KEY, NOW, reader)):
        for scope in SCOPES:
            scoped = replace(link, scope=scope)
            assert read_link(scoped.to_text()) == scoped
