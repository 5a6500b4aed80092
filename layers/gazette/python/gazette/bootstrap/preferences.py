"""Composition root of the `preferences` function, which connects the steps to their adapters."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, partial

from gazette.adapters.aws.bus import EventBridgeBus, events_client
from gazette.adapters.aws.link_keys import cached_keys
from gazette.adapters.aws.queues import sqs_client
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.dynamodb.feedback.statistics import DynamoEngagements
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.rendering.pages import JinjaPages
from gazette.adapters.rendering.places import zones
from gazette.adapters.rendering.preference_page import PreferencePages
from gazette.adapters.rendering.sheets import Sheets
from gazette.adapters.web.forms import read_request
from gazette.adapters.web.links import LinkReader, links_of_view
from gazette.adapters.web.undo import UndoTokens
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.routing import announce, routing_context
from gazette.bootstrap.parts.templates import run_templates, templates
from gazette.bootstrap.parts.versions import versions_in_force
from gazette.bootstrap.parts.withdrawals import withdrawals_when_asked
from gazette.domain.links import LinkToken, Purpose
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.rendering import Pages
from gazette.domain.sources import PREFERENCES
from gazette.domain.subscribers.leaving import KeepAct, Keeping, Leaving
from gazette.domain.subscribers.preference_form import Fields
from gazette.domain.templates.ports import Decisions
from gazette.run_metrics import record_version_unusable
from gazette.settings.preferences import PreferencesSettings
from gazette.steps.preferences import keeping
from gazette.steps.preferences.leaving import look, press
from gazette.steps.preferences.new_link import mail_new_link
from gazette.steps.preferences.requests import PageContext, Shown, show, submit
from gazette.steps.preferences.view import ViewContext, view_email, view_updates

_PAGE = (Purpose.PREFERENCES, Purpose.APP)
"""The purposes of the links that open the preference page."""


@dataclass(frozen=True, slots=True)
class PreferencesFunction:
    """The functions that the handler calls.

    All raise InvalidToken for an invalid token. `preferences_link`, `show` and `submit` raise
    EndedLink for a link that has ended.
    """

    pages: Pages
    preference_page: Callable[[Shown], str]
    """A function that returns the preference page for the result of `show` or `submit`."""

    styles: str
    """The style sheets that the pages' Content-Security-Policy must allow."""

    images: str
    """The images that the pages' Content-Security-Policy must allow."""

    unsubscribe_link: Callable[[str], LinkToken]
    """A function that returns the content of an unsubscribe link's token."""

    preferences_link: Callable[[str], LinkToken]
    """A function that returns the content of a preference link's token."""

    email: Callable[[str], str | None]
    """A function that returns the page with the email that a token identifies."""

    updates: Callable[[str, int], str | None]
    """A function that returns a page of the list of all updates of an email.

    Arguments: a token, and the number of entities on earlier pages.
    """

    confirm_page: Callable[[str, str], str]
    """A function that returns the page that asks for confirmation before unsubscribing.

    Arguments: a token, and the browser's languages. The languages are used if the reader's language
    is unknown.
    """

    press: Callable[[LinkToken, Callable[[], Fields], TimeLeft], Leaving]
    """A function that applies the action of an unsubscribe link or page, as described in
    steps/preferences/leaving.py."""

    keep_page: Callable[[str, str], str]
    """A function that returns the page on which an inactive reader keeps the digest.

    Arguments: a token, and the action that the link offers. Raises EndedLink like `show`.
    """

    keep: Callable[[str, str, Callable[[], Fields], TimeLeft], Keeping]
    """A function that applies the button of `keep_page`.

    Arguments: those of `keep_page`, a function that reads the form, and the remaining time.
    """

    kept_page: Callable[[str, Keeping], str]
    """A function that returns the page for the result of `keep`."""

    left_page: Callable[[str, Leaving, str, str], str]
    """A function that returns the page after unsubscribing.

    Arguments: a token, the result, the browser's languages, and the place in the list of updates
    from which the reader came, or an empty string.
    """

    show: Callable[[LinkToken, str], Shown]
    submit: Callable[[LinkToken, Callable[[], Fields], TimeLeft, str], Shown]
    """A function that applies the submitted preference form.

    Arguments: the link, a function that reads the form, and the remaining time of the invocation.
    """

    mail_new_link: Callable[[str], bool]
    """A function that emails a new link. Argument: the token of an expired link."""

    read_form: Callable[..., Fields]
    """A function that returns the form fields in a request body."""


def _offer(text: str) -> KeepAct:
    return KeepAct.WEEKLY if text == KeepAct.WEEKLY else KeepAct.KEEP


@cache
def build() -> PreferencesFunction:
    """Return the functions that the handler calls. Built once per process."""
    settings = PreferencesSettings.from_env()
    keys = cached_keys(settings.links_secret, clock=now)
    suppression_key = read_suppression_key(settings.suppressions_secret)
    links = LinkReader(keys=keys.get, clock=now)
    undo_tokens = UndoTokens(keys=keys.get, clock=now)
    sheets = Sheets(templates())
    pages = JinjaPages(sheets)
    preference_pages = PreferencePages(sheets, templates())
    events = DynamoEventReader(settings.events_table, clock=now)
    in_force = versions_in_force(settings.control_table)
    suppressions = DynamoSuppressions(settings.suppressions_table, key=suppression_key, clock=now)
    routing = routing_context(settings, sqs_client(), in_force=in_force, suppressions=suppressions)
    context = PageContext(
        routing=routing,
        suppressions=suppressions,
        engagements=DynamoEngagements(settings.engagement_table, retention=settings.run_retention),
        bus=EventBridgeBus(events_client(), settings.bus, source=PREFERENCES),
        announce=cache(partial(announce, settings)),
        categories=preference_pages.categories,
        zones=zones,
    )
    view = ViewContext(
        runs=routing.runs,
        subscribers=routing.subscribers,
        events=events,
        follows=routing.follows,
        withdrawals=withdrawals_when_asked(settings.control_table),
        templates=run_templates(
            control_table=settings.control_table,
            bucket=settings.templates_bucket,
            decisions=lambda: Decisions(in_force=in_force()),
            for_sending=lambda made: made,
            unusable=record_version_unusable,
            waiting=nullcontext,
        ),
        pages=pages,
        clock=now,
        max_blocks=settings.max_blocks,
        arrangement=settings.arrangement,
    )

    def updates(token: str, start: int) -> str | None:
        link, is_own = links.read_list(token)
        leave = partial(links.leave, token) if is_own else None
        return view_updates(link, leave=leave, start=start, context=view)

    return PreferencesFunction(
        pages=pages,
        preference_page=lambda shown: preference_pages.page(
            shown.overview, notice=shown.notice, problems=shown.problems, sent=shown.sent
        ),
        styles=sheets.styles,
        images=sheets.images,
        unsubscribe_link=lambda token: links.read(token, Purpose.UNSUBSCRIBE),
        preferences_link=lambda token: links.read(token, *_PAGE),
        email=lambda token: view_email(
            links.read(token, Purpose.RUN),
            links_of_view(token, base_url=settings.base_url),
            context=view,
        ),
        updates=updates,
        confirm_page=lambda token, accepted: pages.confirm_leaving(
            accepted,
            look(links.read(token, Purpose.UNSUBSCRIBE), context=context),
            settings=links.settings(token),
        ),
        press=lambda link, form, time_left: press(
            link, form, read_undo=undo_tokens.read, context=context, time_left=time_left
        ),
        keep_page=lambda token, offer: pages.keep(
            keeping.look(links.read(token, Purpose.KEEP), _offer(offer), context=context),
            settings=links.settings(token, of=Purpose.KEEP),
        ),
        keep=lambda token, offer, form, time_left: keeping.press(
            links.read(token, Purpose.KEEP),
            form,
            _offer(offer),
            context=context,
            time_left=time_left,
        ),
        kept_page=lambda token, kept: pages.keep(
            kept, settings=links.settings(token, of=Purpose.KEEP)
        ),
        left_page=lambda token, left, accepted, start: pages.left(
            accepted,
            left,
            undo=undo_tokens.make(links.read(token, Purpose.UNSUBSCRIBE), left),
            settings=links.settings(token),
            updates=links.updates(token) if start else "",
            start=start,
        ),
        show=lambda link, after: show(link, context=context, follows_after=after),
        submit=lambda link, form, time_left, after: submit(
            link, form, context=context, time_left=time_left, follows_after=after
        ),
        mail_new_link=lambda token: mail_new_link(
            links.read_ended(token, *_PAGE),
            base_url=settings.base_url,
            context=routing,
        ),
        read_form=read_request,
    )
