"""The check of the recommendation service of a stage, with one request."""

import json
from collections.abc import Iterator

from gazette.bootstrap.parts.clock import now
from gazette.domain.errors import InvalidKeys, Unavailable
from gazette.settings.content import ContentSettings
from gazette.settings.delivery import GenerateSettings
from gazette.settings.ranges import ASKED_SOURCE

from gazette_cli.doctor.findings import Finding, Unseen, ok, problem, unseen, warning
from gazette_cli.doctor.questions import asked
from gazette_cli.shared.console import NotPossible
from gazette_cli.shared.deployed import is_in_vpc, settings_of
from gazette_support.bootstrap.sources import Target, build_permits, build_trial
from gazette_support.domain.source_trial import Trial

_CHECK = "content source"
_PAGE = "docs/content.md"
_USER, _DIGEST = "gazette-doctor", "daily"
"""The user id and the digest in the request."""

_TRY = "To see the whole response, run `gazette sources try`."


def check_source(stage: str, settings: GenerateSettings) -> Iterator[Finding]:
    """Query the recommendation service once, if the stage has one and requests are not stopped."""
    if ASKED_SOURCE not in json.loads(settings.content_sources):
        return
    try:
        content = settings_of(stage, "content", ContentSettings)
    except NotPossible as err:
        yield unseen(_CHECK, Unseen(str(err)))
        return
    reading = asked(
        "dynamodb:GetItem on the pace table", lambda: build_permits(content).read(now())
    )
    if reading is None or isinstance(reading, Unseen):
        yield unseen(_CHECK, reading or Unseen("the `pace` table does not exist"))
        return
    if reading.breaker:
        yield _stopped(by_hand=reading.breaker.by_hand)
        return
    try:
        trial = build_trial(Target.of(content))(_USER, _DIGEST)
    except InvalidKeys as err:
        yield problem(_CHECK, str(err), "Store the token again, and wait a minute.", _PAGE)
    except Unavailable as err:
        yield unseen(_CHECK, Unseen(f"needs secretsmanager:GetSecretValue: {err}"))
    else:
        yield finding(trial, is_private=trial.status is None and is_in_vpc(stage, "content"))


def finding(trial: Trial, *, is_private: bool) -> Finding:
    """Return the finding of a request. `is_private` is True if the function is in a VPC."""
    if trial.problem and is_private:
        seen = f"not reachable from this computer, but the function is in a VPC: {trial.problem}"
        todo = "Run `gazette sources try --stage` with the name of the stage on a host in the VPC."
        return warning(_CHECK, seen, todo, _PAGE)
    if trial.problem:
        return problem(_CHECK, trial.problem, f"{trial.remedy} {_TRY}", _PAGE)
    seen = (
        f"status {trial.status} in {trial.seconds:.2f} seconds, {len(trial.items)} of "
        f"{trial.offered} items usable"
    )
    if trial.refused:
        first = trial.refused[0]
        field = first.field or "the item"
        todo = f"In item {first.place + 1}, {field} {first.why}. {_TRY}"
        return warning(_CHECK, seen, todo, _PAGE)
    return ok(_CHECK, seen)


def _stopped(*, by_hand: bool) -> Finding:
    page = "docs/runbook/source-breaker-opened.md"
    if by_hand:
        todo = "To resume the requests, run `gazette sources resume`."
        return warning(_CHECK, "not queried, because an operator stopped the requests", todo, page)
    todo = "To see the reason, run `gazette sources status`."
    return problem(_CHECK, "not queried, because the circuit breaker is open", todo, page)
