"""What services may ask for, once decoded: the event contract in the domain's words."""

from dataclasses import dataclass

from gazette.domain.model import Event, LocalHour, Subscriber


@dataclass(frozen=True, slots=True)
class ChangeSubscriber:
    """`subscriber.changed`: the whole profile, and when its digest is wanted."""

    subscriber: Subscriber
    digest_at: LocalHour


@dataclass(frozen=True, slots=True)
class CreateEvent:
    """`event.created`: one event for one subscriber."""

    event: Event


Command = ChangeSubscriber | CreateEvent
