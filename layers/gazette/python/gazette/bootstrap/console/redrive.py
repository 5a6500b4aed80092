"""Composition root of the `support_redrive` function, which redrives messages for the support page.

A request without a valid order shows what a redrive would do. Only a request with an order moves
messages.
"""

from collections import Counter
from datetime import datetime, timedelta
from functools import cache
from time import monotonic

from gazette.adapters.aws.dead_letters.orders import carry_out, ordered
from gazette.adapters.aws.dead_letters.queues import QueueUnavailable, queues
from gazette.adapters.aws.dead_letters.states import QueueReader
from gazette.adapters.aws.link_keys import cached_keys
from gazette.adapters.cached import Cached
from gazette.adapters.console.answers import problem_page
from gazette.adapters.console.markup import Html, joined
from gazette.adapters.console.overview import MORE, selections
from gazette.adapters.console.redrives import in_words, moved_page, plan_page
from gazette.adapters.console.requests import WidgetRequest
from gazette.adapters.console.values import Moved, PlannedQueue
from gazette.bootstrap.console.shared import Assessor, Respond, buttons, known_queues
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.dead_letters import build_due_at
from gazette.domain.console.orders import (
    ORDER_FOR,
    InvalidSelection,
    RedriveOrder,
    check_queue,
    read_order,
    read_selection,
    sign_order,
)
from gazette.domain.dead_letters import QUARANTINE
from gazette.domain.errors import InvalidToken
from gazette.domain.links import LinkKeys
from gazette.observability import TimeLeft, logger
from gazette.settings.delivery import SupportSettings

WORK = timedelta(seconds=10)
"""The time for which one press of the button moves messages."""

_SPARE = timedelta(seconds=15)
"""The part of an invocation in which the function makes other messages visible again."""

_EXPIRED = "The button expired after 10 minutes. No message was moved. Check the messages again."
_ALTERED = (
    "The button is not valid for this stage. No message was moved. Go back, and choose the "
    "messages again."
)
_NOTHING_CHOSEN = "Enter a run, a slot or a date."


@cache
def build() -> Respond:
    """Return the function that answers a request. Built once per process."""
    return SupportRedrive(SupportSettings.from_env()).respond


class SupportRedrive:
    """The answers to the buttons that redrive messages."""

    def __init__(self, settings: SupportSettings) -> None:
        self._stage = settings.stage_name
        self._known = known_queues(settings)
        self._assessor = Assessor(settings)
        self._due_at = build_due_at(settings)
        self._keys: Cached[LinkKeys] = cached_keys(settings.links_secret, clock=now)

    def respond(self, request: WidgetRequest, time_left: TimeLeft) -> str:
        """Move the messages of a valid order. Any other request shows what a redrive would do."""
        try:
            if request.do != "redrive":
                return self._plan(self._order(request), request)
            order = read_order(request.value("order"), self._keys.get())
            if order.expires_at <= now():
                return self._plan(self._renewed(order), request, note=_EXPIRED)
            return self._redrive(order, request, time_left)
        except InvalidToken:
            return self._problem(_ALTERED, request)
        except InvalidSelection as err:
            return self._problem(str(err), request)
        except QueueUnavailable as err:
            logger().exception("queue not read")
            sentence = f"The queue {err.queue} cannot be read. Try again in a minute."
            return self._problem(sentence, request)

    def _problem(self, sentence: str, request: WidgetRequest) -> str:
        """Return a problem. The form stays, with its values, if its button was pressed."""
        page_buttons, form = buttons(self._stage, request), Html()
        if request.value("by") == "form":
            form = selections(page_buttons, request.fields, heading="h2")
        back = joined(form, page_buttons.back())
        return problem_page(sentence, theme=request.theme, back=back)

    def _order(self, request: WidgetRequest) -> RedriveOrder:
        """Return the order for the messages that a button or the form names.

        Raises InvalidSelection.
        """
        queue = request.value("queue")
        if request.value("by") == "form":
            run, slot, on = (request.value(f"selected-{name}") for name in ("run", "slot", "date"))
            if not (run or slot or on):
                raise InvalidSelection(_NOTHING_CHOSEN)
            selection = read_selection(run=run, slot=slot, on=on)
        else:
            parameters = request.parameters
            selection = read_selection(
                run=parameters.get("run", ""), message=parameters.get("message", "")
            )
        check_queue(queue, selection)
        return RedriveOrder(queue, selection, self._now_of_sqs(), now() + ORDER_FOR)

    def _renewed(self, order: RedriveOrder) -> RedriveOrder:
        before, expires_at = self._now_of_sqs(), now() + ORDER_FOR
        return RedriveOrder(order.queue, order.selection, before, expires_at)

    def _now_of_sqs(self) -> datetime:
        return next(queues(self._stage, QUARANTINE)).found_at

    def _plan(self, order: RedriveOrder, request: WidgetRequest, *, note: str = "") -> str:
        planned = [self._planned_quarantine()] if order.queue == QUARANTINE else []
        sources = ordered(order, self._known)
        reader = QueueReader(self._stage, clock=now)
        reads = reader.read(sources, most=MORE, with_quarantine=False)
        for dead in sources:
            if (read := reads[dead.name]).problem:
                raise read.problem
            if not read.waiting:
                continue
            chosen = [each for each in read.letters if order.selection.includes(each, self._due_at)]
            by_letter = self._assessor.assess_all(chosen)
            assessed = [by_letter[each] for each in chosen]
            effects = Counter(each.effect for each in assessed)
            looked_at = len(read.letters)
            is_found = bool(order.selection.message and chosen)
            unread = 0 if is_found else max(0, read.waiting - looked_at)
            planned.append(
                PlannedQueue(
                    dead.name, read.waiting, looked_at, len(chosen), effects, unread, assessed
                )
            )
        return plan_page(
            in_words(order.queue, order.selection),
            planned,
            order=sign_order(order, self._keys.get()),
            stage=self._stage,
            buttons=buttons(self._stage, request),
            theme=request.theme,
            note=note,
        )

    def _planned_quarantine(self) -> PlannedQueue:
        waiting = next(queues(self._stage, QUARANTINE)).waiting()
        return PlannedQueue(QUARANTINE, waiting, 0, 0, {})

    def _redrive(self, order: RedriveOrder, request: WidgetRequest, time_left: TimeLeft) -> str:
        began = monotonic()
        seconds = min(WORK, time_left() - _SPARE).total_seconds()
        moved = carry_out(
            order,
            self._known,
            stage=self._stage,
            due_at=self._due_at,
            goes_on=lambda: monotonic() - began < seconds,
        )
        self._log(order, moved, took=monotonic() - began)
        # The order for the rest has the same time limit for messages, but a new one for the button.
        rest = RedriveOrder(order.queue, order.selection, order.before, now() + ORDER_FOR)
        return moved_page(
            in_words(order.queue, order.selection),
            moved,
            is_everything=order.selection.is_everything,
            again="" if moved.is_complete else sign_order(rest, self._keys.get()),
            buttons=buttons(self._stage, request),
            theme=request.theme,
        )

    def _log(self, order: RedriveOrder, moved: Moved, *, took: float) -> None:
        """Log the order and its outcome. The log line has the time."""
        logger().info(
            "redriven from the support page",
            queue=order.queue,
            selection=in_words(order.queue, order.selection),
            dead_letter=order.selection.message,
            moved=moved.moved,
            remaining=moved.remaining,
            is_complete=moved.is_complete,
            milliseconds=round(took * 1000),
            why=str(moved.problem or ""),
        )
