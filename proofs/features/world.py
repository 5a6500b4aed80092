"""One history, from its first deed until nothing moves any more."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from gazette.domain.scheduling.calendar import SLOT
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus

from proofs.features.history import DAYS, READERS, History
from proofs.features.judge import Outcome, judge, rested
from proofs.features.town import Town
from proofs.prove.land import FAKES
from proofs.prove.life import FIRST_DUE, Life, Restless
from proofs.prove.scenario import Scenario
from proofs.prove.strikes import Plan, Worker
from tests.builders import NOW

_SETTLING = 45
"""Days until the rarest digest has come, once a month, and the one behind it has not."""

_MINUTE = timedelta(minutes=1)
_FAR = datetime.max.replace(tzinfo=UTC)


class Observed(Life):
    """A life of which it is noted who rests when."""

    def __init__(self, scenario: Scenario, plan: Plan) -> None:
        self.naps: list[tuple[str, datetime, datetime]] = []
        self._since: dict[str, datetime] = {}
        self._begun: list[datetime] = []
        super().__init__(scenario, plan, FAKES)

    def _invoke(self, name: str, act: object, time: timedelta) -> bool:
        self._begun.append(self.clock())
        try:
            return super()._invoke(name, act, time)  # type: ignore[arg-type]
        finally:
            begun = self._begun[0]
            self._begun.pop()
            for user_id in self.scenario.readers:
                reader = self.onlooker.subscribers.get(user_id)
                is_dormant = (
                    isinstance(reader, Subscriber) and reader.status is SubscriberStatus.DORMANT
                )
                if is_dormant:
                    self._since.setdefault(user_id, self.clock() + _MINUTE)
                elif since := self._since.pop(user_id, None):
                    self.naps.append((user_id, since, begun - SLOT))

    def all_naps(self) -> Iterator[tuple[str, datetime, datetime]]:
        """Those that have not ended, too."""
        yield from self.naps
        yield from ((user_id, since, _FAR) for user_id, since in self._since.items())


def live(history: History) -> tuple[Life, Outcome]:
    """Until everything has settled, and what it came to."""
    meanwhile = iter(history.meanwhile)

    def overtake(life: Life, _: Worker) -> None:
        if deed := next(meanwhile, None):
            town.do(deed)
            life.work_off("ingest")

    scenario = Scenario(
        name="features",
        policy=history.policy,
        evidence=history.evidence,
        answers=history.answers,
        readers=READERS,
        delays=history.delays,
        meanwhile=overtake,
        days=DAYS + 2,
        counted_from=NOW - FIRST_DUE,
        skews=dict(history.skews),
        sunset=history.sunset,
        settling=_SETTLING,
    )
    places = accumulate(gap + 1 for gap, _ in history.strikes)
    plan = tuple(zip(places, (how for _, how in history.strikes), strict=True))
    life = Observed(scenario, plan)
    town = Town(life)
    town.begin()
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
    outcome.violations += rested(life, life.all_naps())
    return life, outcome
