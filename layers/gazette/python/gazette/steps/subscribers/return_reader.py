"""Return a reader who unsubscribed, on a new consent that a service states."""

from dataclasses import dataclass
from functools import partial

from gazette.domain.ports.stores import Suppressions
from gazette.domain.subscribers.consent import Consent, Refusal, refusal_of
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.subscribers.suppression import Suppression
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import ScheduleContext
from gazette.steps.subscribers.resubscribe import resubscribe


@dataclass(frozen=True, slots=True)
class Returned:
    """The result of a consent."""

    refusal: Refusal | None = None
    """The reason for which the reader was not returned; None if the reader gets email now."""

    has_changed: bool = False
    """True if the consent lifted an unsubscription; False if there was none to lift."""

    @property
    def outcome(self) -> str:
        """The name of the result in metrics and log lines."""
        if self.refusal:
            return self.refusal.value
        return "returned" if self.has_changed else "unchanged"


def return_reader(
    consent: Consent, *, suppressions: Suppressions, context: ScheduleContext
) -> Returned:
    """Resume email to a reader on a consent, unless a stronger or a newer stop is stored.

    Safe to repeat, also after a crash, because `resubscribe` is. A consent that
    is stated again after the reader has unsubscribed again is refused. Raises NotYet if the profile
    keeps changing.
    """
    for _ in ATTEMPTS:
        reader = context.subscribers.get(consent.user_id)
        suppression = suppressions.get(consent.address)
        refusal = refusal_of(consent, reader, suppression)
        if refusal or not isinstance(reader, Subscriber):
            return Returned(refusal)
        if noted := consent.to_note_in(reader):
            context.subscribers.put(noted, replacing=reader)
            continue
        if not reader.has_left and suppression is None:
            return Returned()
        if resubscribe(
            consent.user_id,
            consent.address,
            suppressions=suppressions,
            context=context,
            is_meant=partial(_is_meant, consent, suppression),
            consent=consent,
        ):
            return Returned(has_changed=True)
    raise kept_changing(f"The profile of {consent.user_id}")


def _is_meant(consent: Consent, suppression: Suppression | None, reader: Subscriber) -> bool:
    return refusal_of(consent, reader, suppression) is None
