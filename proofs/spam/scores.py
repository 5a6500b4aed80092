"""SpamAssassin's score of each email, by the rules in Debian's package."""

import mailbox
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

from proofs.spam.emails import Sent

_WITHIN = 300
"""Seconds. A limit for a program that hangs. It uses 7 seconds of CPU."""

_COMMAND = ("spamassassin", "--local", "--mbox", "--nocreate-prefs")
"""The command without tests of the network, because the sender and its links do not exist."""

_SETTINGS = (
    "use_bayes 0",
    "report_safe 0",
    "fold_headers 0",
    "add_header all Rules _TESTSSCORES(,)_",
)
_SCORE = re.compile(r"score=(-?[0-9.]+) ")
_INFORMATIONAL = 0.01
"""Rules with a score below this only inform: SpamAssassin shows their score as 0.0."""


@dataclass(frozen=True, slots=True)
class Scored:
    """An email with its score, as SpamAssassin rounds it, and the rules that count."""

    sent: Sent
    score: float
    rules: Mapping[str, float]


def scored(emails: Sequence[Sent]) -> list[Scored]:
    """Return the scores of the emails. Raises CalledProcessError, and KeyError if one is lost."""
    with tempfile.TemporaryDirectory() as folder:
        mails = Path(folder) / "mails"
        box = mailbox.mbox(mails)
        for each in emails:
            box.add(each.message)
        box.close()
        answer = Path(folder) / "answer"
        answer.write_bytes(_run(mails, home=folder))
        by_id = {message["Message-ID"]: message for message in mailbox.mbox(answer)}
    return [read_score(each, by_id[_id_of(each)]) for each in emails]


def read_score(sent: Sent, message: Message) -> Scored:
    """Return the score in the headers that SpamAssassin added to an email."""
    score = _SCORE.search(message["X-Spam-Status"])
    if not score:
        raise ValueError(f"no score in {message['X-Spam-Status']!r}")
    named = (rule.split("=") for rule in message["X-Spam-Rules"].split(","))
    scores = {name: float(score) for name, score in named}
    counted = {name: score for name, score in scores.items() if abs(score) >= _INFORMATIONAL}
    return Scored(sent, float(score[1]) + 0.0, counted)  # the sum of -0.0 and 0.0 is 0.0


def _run(mails: Path, *, home: str) -> bytes:
    settings = [argument for line in _SETTINGS for argument in ("--cf", line)]
    return subprocess.run(
        [*_COMMAND, *settings, str(mails)],
        env={**os.environ, "HOME": home, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        timeout=_WITHIN,
        check=True,
    ).stdout


def _id_of(sent: Sent) -> str:
    return str(BytesParser().parsebytes(sent.message, headersonly=True)["Message-ID"])
