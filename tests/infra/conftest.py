"""Each stage is synthesised once: it takes seconds."""

import pytest

from tests.infra.synthesis import Synthesis, synthesise


@pytest.fixture(scope="session")
def prod(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    """The stage prod, its layers not built."""
    return synthesise("prod", tmp_path_factory.mktemp("prod"), bundled=False)


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    """The stage local, its layers built for this machine."""
    return synthesise("local", tmp_path_factory.mktemp("local"), bundled=True)


@pytest.fixture(scope="session")
def tracking(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    """The stage prod with all that it may ask for about emails, its layers not built."""
    return synthesise(
        "prod",
        tmp_path_factory.mktemp("tracking"),
        bundled=False,
        track_clicks=True,
        track_opens=True,
        feedback_by_sns=True,
        immediate_sender="Now <now@example.com>",
        digest_pool="digests",
        immediate_pool="at-once",
    )


@pytest.fixture(scope="session")
def by_smtp(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    """The stage prod, sending by SMTP, its layers not built."""
    return synthesise(
        "prod",
        tmp_path_factory.mktemp("by_smtp"),
        bundled=False,
        mail_provider="smtp",
        smtp_host="mail.example.com",
        emails_per_second=5,
        unknown_policy="carry_over",
    )
