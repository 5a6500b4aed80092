"""A reader leaves: the stop is written, and then made known to whoever is about to send."""

from gazette.domain.lifecycle import Ignored, transition
from gazette.domain.model import DAILY, RunKey, SubscriberStatus
from gazette.domain.ports import Runs, Schedules, Subscribers
from gazette.domain.signals import Stop


def unsubscribe(
    user_id: str, *, subscribers: Subscribers, schedules: Schedules, runs: Runs
) -> bool:
    """Stop all digests to `user_id`. Safe to repeat. False where there is no such subscriber.

    Status, then due index, then the epoch of the open runs: a worker that read the status
    before it changed fails at its claim (rule 11).
    """
    if not subscribers.set_status(user_id, SubscriberStatus.UNSUBSCRIBED):
        return False
    schedule = schedules.get(user_id, DAILY)
    if schedule is None:
        return True
    schedules.withdraw(user_id, DAILY)
    for run in runs.chain(RunKey(user_id, DAILY, schedule.sequence)):
        current = run
        while not isinstance(stopped := transition(current, Stop()), Ignored):
            stored = runs.swap(current, stopped)
            if stored == stopped:
                break
            current = stored
    return True
