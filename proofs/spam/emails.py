"""One email of each kind and language, as the SMTP adapter sends it."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from gazette.adapters.mail.smtp import SmtpMailer
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.web.links import SignedLinks
from gazette.domain.delivery.compose import compose
from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import Accepted
from gazette.domain.links import NEW_LINK, LinkKeys, LinkToken
from gazette.domain.model import DAILY, Actor, Entity, Event, RunKey, StageHeaders
from gazette.domain.ports.rendering import SunsetNotice
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.delivery.edition import address

from gazette_cli.preview.content import EmailContent, Kind, sample
from gazette_cli.preview.sample import EVENTS, READER
from tests.scripted_smtp import TIMES, ScriptedSmtp

LANGUAGES = ("en", "de", "he")
_USER = "3f2b9c1e-8d47-4a16-9e0b-5c7d2f81a634"
_SENDER = "Gazette <digest@mail.example.com>"
_STAGE = StageHeaders(list_id="digest.mail.example.com", installation="c3b7")
_KEYS = LinkKeys({"k1": b"k" * 64})
_BLOCKS = 10


@dataclass(frozen=True, slots=True)
class Sent:
    """An email as a mail server receives it."""

    kind: str
    language: str
    message: bytes = field(repr=False)


def sent(templates: Path, languages: Sequence[str] = LANGUAGES) -> Iterator[Sent]:
    """Render the emails with built templates, send them to a server on loopback, and yield what it
    received.
    """
    renderer = JinjaRenderer(templates)
    server = ScriptedSmtp()
    with server.served() as where:
        mailer = SmtpMailer(where, sender=_SENDER, times=TIMES, clock=time.monotonic)
        for kind, content in contents().items():
            for language in languages:
                outcome = _send(content, language, renderer, mailer)
                if not isinstance(outcome, Accepted):
                    raise TypeError(f"{kind} in {language} was not sent: {outcome}")
                yield Sent(kind, language, server.messages[-1])


def contents() -> dict[str, EmailContent]:
    """Return the content of each kind of email, by the name of the kind."""
    digest, immediate = sample(Kind.DIGEST), sample(Kind.IMMEDIATE)
    day = digest.due_at.date()
    return {
        "daily": digest,
        "one event": _of(EVENTS[:1], DAILY),
        "weekly": replace(digest, schedule=Frequency.WEEKLY.value),
        "last digest": replace(
            digest, schedule=Frequency.CUSTOM.value, ends_on=day + timedelta(days=7)
        ),
        "immediate": immediate,
        "critical": _of([_sign_in()], critical_schedule("sign_in#1")),
        "new link": _of([_new_link()], immediate_schedule(NEW_LINK)),
    }


def _of(events: Sequence[Event], schedule: str) -> EmailContent:
    return EmailContent(READER, tuple(events), schedule)


def _sign_in() -> Event:
    entity = Entity("sign_in", "1", "New sign-in from Lisbon", "https://example.com/security")
    return replace(EVENTS[0], id="sign-in", category="security", entity=entity, actor=None)


def _new_link() -> Event:
    """Return an event like that of steps/preferences/new_link.py."""
    entity = Entity(NEW_LINK, "preferences", "", "https://links.example.com")
    reader = Actor(READER.user_id, READER.name)
    return replace(EVENTS[0], id=NEW_LINK, category=NEW_LINK, entity=entity, actor=reader)


def _send(
    content: EmailContent, language: str, renderer: JinjaRenderer, mailer: SmtpMailer
) -> object:
    reader = replace(content.reader, user_id=_USER, locale=language)
    key = RunKey(_USER, content.schedule, 117)
    run = Run(key=key, due_at=content.due_at, check_at=content.due_at, attempt=1)
    signed = SignedLinks(base_url="https://links.example.com", keys=lambda: _KEYS)
    links = signed.links(LinkToken.of(key, run.due_at, reader))
    if content.ends_on:
        links = replace(links, sunset=SunsetNotice.of(content.ends_on, links.keep()))
    digest = compose(content.events, max_blocks=_BLOCKS)
    edition = renderer.render(digest, reader, links, content.schedule, due_at=run.due_at)
    return mailer.send(address(run, edition, reader, links, _STAGE), run.attempt)
