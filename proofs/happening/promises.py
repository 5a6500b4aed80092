"""The promises that must hold in every state."""

from gazette.domain.model import ScheduleState

from proofs.happening.rows import COMMENT, DAILY, MENTION, NOW, is_wanted, settled
from proofs.happening.state import Message, Row, Setup, State, Worker, is_done

_STOPS = {
    MENTION: (Message.RETRACT_MENTION, Message.MUTE),
    COMMENT: (Message.RETRACT_COMMENT, Message.UNFOLLOW),
}


def claimed_too_late(state: State, worker: Worker, setup: Setup) -> str:
    """Return the promise that a claim breaks, or an empty text.

    The worker that stores a comment reads its activity again only after the write, as for every
    follower. Until then, an email may show a comment whose activity was retracted.
    """
    shown = worker.row.shown if worker.row else ""
    is_in_flight = shown == COMMENT and _is_unacknowledged(state, setup, Message.COMMENT)
    if is_done(state, setup, _STOPS[shown][0]) and not is_in_flight:
        return "stopped: an email shows a body that was retracted before its claim"
    if shown == COMMENT and MENTION in _live(state, setup):
        return "weaker: an email shows the comment, although the mention came before its claim"
    return ""


def sent_too_late(state: State, worker: Worker, setup: Setup) -> str:
    """Return the promise that a call to the provider breaks, or an empty text."""
    shown = worker.row.shown if worker.row else ""
    if is_done(state, setup, _STOPS[shown][1]):
        return "stopped: an email shows a body that was muted or is not followed"
    return ""


def broken(state: State, setup: Setup) -> str | None:
    """Return the promise that a state breaks, or None."""
    if state.fault:
        return state.fault
    return _broken_at_rest(state, setup) if is_quiet(state) else None


def is_quiet(state: State) -> bool:
    """Return True if all messages are processed and no run is being sent."""
    return not state.workers and all(state.messages)


def _live(state: State, setup: Setup) -> frozenset[str]:
    """Return the bodies that came, were not retracted, and are wanted."""
    live = set[str]()
    if is_done(state, setup, Message.COMMENT) and not state.is_retracted:
        live.add(COMMENT)
    is_folded = not setup.critical
    is_retracted = state.pointer == "trace" or _is_begun(state, Message.RETRACT_MENTION)
    if is_folded and is_done(state, setup, Message.MENTION) and not is_retracted:
        live.add(MENTION)
    return frozenset(body for body in live if is_wanted(body, state.choices))


def _is_unacknowledged(state: State, setup: Setup, message: Message) -> bool:
    return not is_done(state, setup, message) or _is_begun(state, message)


def _is_begun(state: State, message: Message) -> bool:
    return any(worker.task == message for worker in state.workers)


def _broken_at_rest(state: State, setup: Setup) -> str | None:
    live, row = _live(state, setup), state.row
    if setup.critical and is_done(state, setup, Message.MENTION) and state.critical_row == "":
        return "critical: the critical mention has no email of its own"
    if state.emails:
        return None
    bodies = row.bodies if row else frozenset[str]()
    if live - bodies:
        return f"lost: a wanted body is neither sent nor stored ({''.join(sorted(live - bodies))})"
    is_unsettled = row is not None and state.is_marked and row.place in state.runs
    if bodies - live and row and row.place == DAILY and not is_unsettled:
        return f"unwanted: the row of a digest keeps an unwanted body ({_named(bodies - live)})"
    if row is None or not row.shown or not live:
        return None
    if row.place == DAILY and state.schedule is ScheduleState.IDLE and not state.attempt:
        return "idle: the row waits under an idle schedule"
    if row.place == NOW and NOW not in state.runs:
        return "forgotten: the row waits in a thread without a run"
    return _misplaced(live, row, state, setup)


def _misplaced(live: frozenset[str], row: Row, state: State, setup: Setup) -> str | None:
    ideal = settled(live, state.choices, setup, None, stays=False)
    if ideal is None or (state.is_marked and row.place in state.runs):
        return None  # the open run routes the row again before its claim
    if row.place != ideal.place and setup.refusals == state.refusals:
        return f"place: the row waits in {row.place}, and not in {ideal.place}"
    if row.shown != ideal.shown:
        return f"weaker: the row shows {row.shown}, and not {ideal.shown}"
    return None


def _named(bodies: frozenset[str]) -> str:
    return "".join(sorted(bodies))
