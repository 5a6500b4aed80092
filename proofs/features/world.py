"""One history, from its first action until no work remains."""

import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zlib import crc32

from gazette.domain.model import RunKey, Schedule
from gazette.domain.receipts.receipt import State
from gazette.domain.scheduling.calendar import SLOT
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.withdrawing.withdrawals import Withdrawals

from proofs.features.history import DAYS, READERS, Deed, History, Strike
from proofs.features.judge import Outcome, happenings, judge, rested, too_often
from proofs.features.town import Town, Wanted
from proofs.prove.land import FAKES
from proofs.prove.life import FIRST_DUE, Life, Restless
from proofs.prove.provider import Answer
from proofs.prove.scenario import Scenario
from proofs.prove.strikes import How, Worker
from proofs.receipts import false_claims
from tests.builders import NOW
from tests.receipts import receipt_of

_EACH = 7
"""The number of invocations from one check of all receipts to the next."""

_SETTLING = 45
"""The days after which a monthly digest has come due once, and not twice."""

_MINUTE = timedelta(minutes=1)
_FAR = datetime.max.replace(tzinfo=UTC)


class Observed(Life):
    """A life with strikes aimed at kinds of calls, which also records dormant readers."""

    def __init__(self, scenario: Scenario[Life], strikes: tuple[Strike, ...]) -> None:
        self.naps: list[tuple[str, datetime, datetime]] = []
        self.unquiet: list[str] = []
        self.receipts = 0
        self._invocations = 0
        self._since: dict[str, datetime] = {}
        self._begun: list[datetime] = []
        self._strikes = list(strikes)
        self.has_strikes = bool(strikes)
        self._passed: Counter[Strike] = Counter()
        self.struck: Strike | None = None
        super().__init__(scenario, (), FAKES)
        self.calls.aim = self._aim
        self.town = Town(self)
        self.world.current_withdrawals = self._list_of_the_worker

    def _list_of_the_worker(self) -> Withdrawals:
        """Return the list of withdrawals, or that of a minute ago for every second worker."""
        worker, current = self.calls.worker, self.onlooker.withdrawals.current()
        age = _MINUTE * (worker is not None and crc32(worker.name.encode()) % 2)
        return tuple(each for each in current if each.at <= self.clock() - age)

    def _aim(self, worker: Worker, call: str) -> How | None:
        """Return the effect of the first strike that targets such a call."""
        function = worker.name.partition(" ")[0]
        for strike in self._strikes:
            if (strike.function, strike.call) != (function, call):
                continue
            if self.clock() < FIRST_DUE + strike.since:
                continue
            self._passed[strike] += 1
            if self._passed[strike] > strike.after:
                self._strikes.remove(strike)
                self.struck = strike
                if strike.how is not How.OVERTAKEN:
                    self._do(strike.meanwhile)
                return strike.how
        return None

    def overtake(self, worker: Worker) -> None:
        """Run the actions of other actors during a strike."""
        strike = self.struck
        assert strike is not None
        self._do(strike.meanwhile)
        if strike.is_copied:
            self.work_copy(worker)
        if strike.meanwhile:
            self.work_off("ingest")
        if strike.pause:
            self._let_others(self.clock() + strike.pause)

    def _do(self, deeds: tuple[Deed, ...]) -> None:
        worker, self.calls.worker = self.calls.worker, None
        for deed in deeds:
            self.town.do(deed)
        self.calls.worker = worker

    def _invoke(self, name: str, act: object, time: timedelta) -> bool:
        self._begun.append(self.clock())
        try:
            return super()._invoke(name, act, time)  # type: ignore[arg-type]
        finally:
            begun = self._begun[0]
            self._begun.pop()
            self._note_naps(begun)
            self._invocations += 1
            if self._invocations % _EACH == 0:
                self.unquiet += self.false_receipts()
            if not self._begun and not self.is_ingest_behind():
                self.unquiet += self.town.kept_of_the_erased()
                self.unquiet += self._listed_while_dormant()

    def false_receipts(self) -> Iterator[str]:
        """Return false statements about events, in the middle of the work of other workers.

        A receipt of an event in the row of its happening concerns the emails of the happening.
        """
        for wanted in self.town.wanted.values():
            receipt = receipt_of(self.onlooker, wanted.event_id, wanted.user_id)
            of_event, of_all = self._emails_with(wanted, alone=True), self._emails_with(wanted)
            is_alone = self.town.row_of(wanted) != wanted.happening
            is_without = is_alone or (receipt.state is State.RETRACTED and not receipt.emails)
            self.receipts += 1
            yield from false_claims(receipt, of_event if is_without else of_all)
            if receipt.state is State.EMAILED:
                yield from self._wrongly_shown(wanted, receipt.shown_as)

    def _wrongly_shown(self, wanted: Wanted, shown_as: str) -> Iterator[str]:
        """Return a statement that emails show an event which no email shows.

        If the event that an email showed was retracted, the receipt of another one does not name
        it. While the outcome of an email is unknown, its row may change, because the email may be
        sent again.
        """
        shown = self.town.wanted.get((wanted.user_id, shown_as or wanted.event_id))
        if shown is None or self._emails_with(shown, alone=True):
            return
        others = [
            one
            for one in self.town.wanted.values()
            if (one.user_id, one.happening) == (wanted.user_id, wanted.happening)
            and self._emails_with(one, alone=True)
        ]
        is_certain = self._is_certain(shown)
        if is_certain and not any("retracted" in one.forgone for one in others):
            yield f"receipt: no email shows {wanted.event_id} as {shown.event_id}"

    def _is_certain(self, shown: Wanted) -> bool:
        """Return True if no email about the happening had an unknown outcome.

        An event that was left out may join its happening again while an email is being sent.
        """
        is_reliable = all(answer is not Answer.LOST for answer in self.scenario.answers)
        was_early = all(
            self.acknowledged.get(shown.key, sys.maxsize) <= taken.claim_call
            for taken in self.provider.taken
            if (shown.user_id, shown.happening) in happenings(self.town, taken)
        )
        stayed = not {"seen", "withdrawn"} & shown.forgone
        return (was_early and stayed) or (is_reliable and not self.has_strikes)

    def _emails_with(self, wanted: Wanted, *, alone: bool = False) -> set[RunKey]:
        """Return the runs of the emails with an event, or with another one about its happening."""
        return {
            taken.key
            for taken in self.provider.taken
            if taken.key.user_id == wanted.user_id
            and (
                wanted.event_id in taken.shows
                if alone
                else (wanted.user_id, wanted.happening) in happenings(self.town, taken)
            )
        }

    def _note_naps(self, begun: datetime) -> None:
        for user_id in self.scenario.readers:
            if self._is_dormant(user_id):
                self._since.setdefault(user_id, self.clock() + _MINUTE)
            elif since := self._since.pop(user_id, None):
                self.naps.append((user_id, since, begun - SLOT))

    def _is_dormant(self, user_id: str) -> bool:
        reader = self.onlooker.subscribers.get(user_id)
        return isinstance(reader, Subscriber) and reader.status is SubscriberStatus.DORMANT

    def _listed_while_dormant(self) -> Iterator[str]:
        """Return scheduled digests of readers who have long been dormant."""
        for user_id, since in self._since.items():
            if self.clock() > since + timedelta(days=1):
                listed: list[Schedule] = [
                    one for one in self.onlooker.schedules.of_user(user_id) if one.listed
                ]
                yield from (f"dormant: {one.name} of {user_id} is scheduled" for one in listed)

    def all_naps(self) -> Iterator[tuple[str, datetime, datetime]]:
        """Return all dormant periods, including those that have not ended."""
        yield from self.naps
        yield from ((user_id, since, _FAR) for user_id, since in self._since.items())


def live(history: History) -> tuple[Life, Outcome]:
    """Run a history until all work has settled, and return the verdict."""
    scenario = Scenario[Life](
        name="features",
        policy=history.policy,
        evidence=history.evidence,
        answers=history.answers,
        readers=READERS,
        delays=history.delays,
        meanwhile=lambda life, worker: life.overtake(worker),  # type: ignore[attr-defined]
        days=DAYS + 2,
        counted_from=NOW - FIRST_DUE,
        skews=dict(history.skews),
        sunset=history.sunset,
        worth=history.worth,
        limit=history.limit,
        settling=_SETTLING,
        asks=history.asks,
        source_down=history.source_down,
    )
    life = Observed(scenario, history.strikes)
    town = life.town
    town.begin(history.begins)
    for deed in history.deeds:
        life.at(FIRST_DUE + deed.at, lambda deed=deed: town.do(deed))  # type: ignore[misc]
    town.end(
        daily=history.ends_daily,
        signs=history.sunset is not None,
        days=4 if history.ends_daily else _SETTLING,
    )
    try:
        life.live()
    except Restless as why:
        outcome = judge(life, town)
        outcome.violations.insert(0, f"it does not settle: {why}")
        return life, outcome
    outcome = judge(life, town)
    if history.limit:
        outcome.violations += too_often(life, town, history.limit, slack=len(history.strikes))
    outcome.violations += rested(life, life.all_naps())
    outcome.violations += life.false_receipts()
    outcome.receipts = life.receipts
    outcome.violations += dict.fromkeys((*life.unquiet, *life.idleness.broken))
    return life, outcome
