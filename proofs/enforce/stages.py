"""The stages whose policies are judged, synthesised as for a deployment but without layers."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proofs.enforce.account import Account
from proofs.enforce.template import Templates

ROOT = Path(__file__).parents[2]

_CRITICAL: Mapping[str, Any] = {"critical_categories": ["security"]}

_ASKS: Mapping[str, Any] = {
    "content_sources": ["events", "recommendations"],
    "recommendations_url": "https://recommend.gazette.dev/v1/items",
    "recommendations_secret": "recommend-token",
}
"""Settings of a content source with a token, which either provider may have."""

_PUBLISHES: Mapping[str, Any] = {
    "events_out": ["subscriber.left", "email.sent", "email.delivered", "address"]
}
"""Events out from each of the tables."""

EVERYTHING: Mapping[str, Any] = {
    "sender": "Gazette <digest@gazette.dev>",
    "immediate_sender": "Now <now@gazette.dev>",
    "list_id": "digest.gazette.dev",
    "alarm_email": "alarms@gazette.dev",
    "links_domain": "links.gazette.dev",
    "domain": "gazette.dev",
    "hosted_zone": {"name": "gazette.dev", "id": "Z0123456789ABCDEFGHIJ"},
    "track_clicks": True,
    "track_opens": True,
    "feedback_by_sns": True,
    "archive_days": 7,
    "services_api": {"requests_per_second": 50, "return": True},
    **_PUBLISHES,
    **_ASKS,
    **_CRITICAL,
}
"""Settings with which every grant exists that a stage with SES may have, in the sandbox."""

OUTSIDE: Mapping[str, Any] = {
    **EVERYTHING,
    "sandbox": False,
    "sender": "Gazette <digest+weekly@eu.news.gazette.dev>",
    "immediate_sender": "Now <now@news.gazette.dev>",
    "domain": "news.gazette.dev",
}
"""The same settings outside the sandbox, where grants name identities. One sender is below the
domain and has a label. Above the domain is one that is not verified. The app passes a key and a
VPC."""

SMTP: Mapping[str, Any] = {
    "sender": "Gazette <digest@gazette.dev>",
    "immediate_sender": "Now <now@gazette.dev>",
    "list_id": "digest.gazette.dev",
    "alarm_email": "alarms@gazette.dev",
    "links_domain": "none",
    "mail_provider": "smtp",
    "smtp_host": "smtp.gazette.dev",
    "smtp_secret": "gazette-smtp",
    "sources": {"delivery.reported": ["shop.mailgun"]},
    "services_api": {"requests_per_second": 50, "return": True},
    **_ASKS,
    **_CRITICAL,
    "emails_per_second": 50,
    "unknown_policy": "carry_over",
    "sandbox": False,
}
"""Settings of SMTP with a login, and with a service that reports delivery events."""

IN_THE_SANDBOX = "everything, in the sandbox"
WITH_A_KEY = "everything, outside the sandbox, with a key and a VPC"
BY_SMTP = "SMTP with a login"
STAGES: Mapping[str, Mapping[str, Any]] = {
    IN_THE_SANDBOX: EVERYTHING,
    WITH_A_KEY: OUTSIDE,
    BY_SMTP: SMTP,
    "cdk.json as it stands": {},
}
"""The stages by their specialty, with the settings that differ from those of `prod` in cdk.json."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A stage that is judged."""

    name: str
    account: Account


def synthesised(folder: Path, names: tuple[str, ...] = tuple(STAGES)) -> tuple[Judged, ...]:
    """Synthesise the stages of these names into subfolders of `folder`, unless they exist.

    Several processes may call it at once. The first one synthesises, in a separate process, because
    importing the CDK takes longer than reading its templates.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folders = {name: folder / str([*STAGES].index(name)) for name in names}
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = {
            str(into): {"settings": _settings(STAGES[name]), "objects": name == WITH_A_KEY}
            for name, into in folders.items()
            if not (into / "manifest.json").exists()
        }
        if missing:
            _synthesise(missing)
    return tuple(
        Judged(name, Account.of(Templates.of(into), sandbox=_settings(STAGES[name])["sandbox"]))
        for name, into in folders.items()
    )


def templates_of(folder: Path, name: str) -> Templates:
    """Return the templates of a stage. Synthesise them into a subfolder of `folder`, unless they
    exist.
    """
    synthesised(folder, (name,))
    return Templates.of(folder / str([*STAGES].index(name)))


def _settings(changed: Mapping[str, Any]) -> dict[str, Any]:
    stages = json.loads((ROOT / "cdk.json").read_text())["context"]["stages"]
    return {**stages["prod"], **changed}


def _synthesise(stages: Mapping[str, Mapping[str, Any]]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "proofs.enforce.synthesis"],
        cwd=ROOT,
        env={**os.environ, "CDK_VALIDATION": "false"},
        input=json.dumps(stages),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"proofs.enforce.synthesis failed: {done.stderr.strip()}")
