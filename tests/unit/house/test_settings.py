"""What the infrastructure writes is what the function reads."""

import json
from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest
from gazette.domain.content.items import CATEGORY_OF, CONTENT_SOURCES
from gazette.domain.delivery.arrangement import WEIGHTS, Arrangement, Ranking, Sections
from gazette.domain.delivery.pace import MAX_RATE
from gazette.domain.ports.queues import LONGEST_DELAY
from gazette.domain.scheduling.cap import ImmediateLimit
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.window.worth import Worth
from gazette.settings.arrangement import ArrangementSettings
from gazette.settings.content import ContentSettings
from gazette.settings.delivery import (
    GenerateSettings,
    ResendSettings,
    SendingSettings,
    SupportSettings,
)
from gazette.settings.environment import InvalidSetting, Settings
from gazette.settings.fanout import FanoutSettings
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import (
    MOST_CRITICAL,
    FollowersSettings,
    IngestSettings,
    RoutingSettings,
)
from gazette.settings.outbox import OutboxSettings
from gazette.settings.preferences import (
    ApiSettings,
    ApiWritesSettings,
    PreferencesSettings,
)
from gazette.settings.ranges import ASKED_SOURCE, DURATIONS, LISTS, as_typed
from gazette.settings.sweep import SweepSettings
from hypothesis import given, settings
from hypothesis import strategies as st

from gazette_cdk.stage import Stage
from gazette_cdk.stage.content import RECOMMENDATION

CLASSES = (
    ApiSettings,
    ApiWritesSettings,
    ContentSettings,
    FanoutSettings,
    FeedbackSettings,
    FollowersSettings,
    GenerateSettings,
    IngestSettings,
    OutboxSettings,
    PreferencesSettings,
    ResendSettings,
    SupportSettings,
    SweepSettings,
)
VALID: dict[str, Any] = {
    "collapse": 20,
    "default_frequencies": '{"comment": "weekly"}',
    "quiet_hours": "22:00-07:00",
    "critical_categories": '["security"]',
    "sources": '{"subscriber.deleted": ["shop.accounts"]}',
    "content_sources": '["events", "recommendations"]',
    "recommendations_policy": "without",
    "events_out": '["subscriber.left", "address"]',
    "recommendations_timeout": 3,
    "recommendations_items": 5,
    "recommendations_fresh_for": 1440,
    "recommendations_patience": 600,
    "link_hosts": '["example.com", "*.shop.example"]',
    "max_lateness": 3600,
    "spread": 540,
    "mail_provider": "ses",
    "smtp_security": "tls",
    "settle_lag": 60,
    "send_timeout": 10,
    "smtp_reply_timeout": 600,
    "clock_skew": 5,
    "evidence_grace": 900,
    "longest_unknown": 21600,
    "unknown_policy": "resend",
    "immediate_unsubscribe": "category",
    "ranking": "relevance",
    "category_weights": '{"sale": 7.5}',
    "digest_worth": '{"score": 2, "days": 3}',
    "immediate_limit": '{"per_hour": 6, "per_day": 30}',
    "sections": "none",
    "event_retention_days": 35,
    "run_retention_days": 200,
    "allowed_recipients": "[]",
    "warmup_from": "2026-11-21",
}


def values(kind: type[Settings], **given: Any) -> dict[str, Any]:
    """Valid values of every field, each text and number different from the others."""
    return {
        field.name: VALID.get(field.name, number if field.type is not str else f"text {number}")
        for number, field in enumerate(fields(kind), start=1)
    } | given


def build(kind: type[Settings], **given: Any) -> Settings:
    """Valid settings but for `given`."""
    return kind(**{name: as_typed(name, value) for name, value in values(kind, **given).items()})


NUMBERS = [
    (kind, field.name) for kind in CLASSES for field in fields(kind) if field.type is not str
]
VARIABLES = [(kind, field.name) for kind in CLASSES for field in fields(kind)]


def written(kind: type[Settings]) -> set[type[Settings]]:
    """The kinds that are written and read, not those that only others build on."""
    return set().union(*(written(each) for each in kind.__subclasses__())) or {kind}


def test_every_settings_class_is_tested() -> None:
    assert set(CLASSES) == written(Settings)


@pytest.mark.parametrize("kind", [*CLASSES, Stage])
def test_every_duration_and_no_other_setting_has_a_unit(kind: type[Any]) -> None:
    durations = {field.name for field in fields(kind) if field.type is timedelta}
    assert durations == DURATIONS.keys() & {field.name for field in fields(kind)}


@pytest.mark.parametrize("kind", CLASSES)
def test_settings_round_trip_through_environment(kind: type[Settings]) -> None:
    given = build(kind)
    assert kind.from_env(given.to_env()) == given


@pytest.mark.parametrize("kind", CLASSES)
def test_unrelated_environment_variables_are_ignored(kind: type[Settings]) -> None:
    given = build(kind)
    assert kind.from_env({"PATH": "/bin", "GAZETTE_OTHER": "x"} | given.to_env()) == given


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))
@settings(max_examples=50, deadline=None)
def test_string_setting_round_trips(text: str) -> None:
    given = build(IngestSettings, events_table=text)
    assert IngestSettings.from_env(given.to_env()) == given


def test_environment_variable_is_named_after_its_field() -> None:
    assert build(FanoutSettings).to_env()["GAZETTE_SPREAD"] == "540"
    assert set(build(FeedbackSettings).to_env()) == {
        "GAZETTE_RUNS_TABLE",
        "GAZETTE_CONTROL_TABLE",
        "GAZETTE_SUBSCRIBERS_TABLE",
        "GAZETTE_SCHEDULES_TABLE",
        "GAZETTE_SUPPRESSIONS_TABLE",
        "GAZETTE_SUPPRESSIONS_SECRET",
        "GAZETTE_BOUNCES_TABLE",
        "GAZETTE_CATEGORY_STATS_TABLE",
        "GAZETTE_CATEGORY_HOLD",
        "GAZETTE_INSTALLATION",
        "GAZETTE_QUARANTINE_QUEUE_URL",
        "GAZETTE_FEEDBACK_QUEUE_URL",
        "GAZETTE_SOFT_BOUNCES",
        "GAZETTE_SOFT_BOUNCE_DAYS",
        "GAZETTE_ENGAGEMENT_TABLE",
        "GAZETTE_BUS",
        "GAZETTE_TRACK_CLICKS",
        "GAZETTE_OPENS_ARE_LIFE",
        "GAZETTE_RUN_RETENTION_DAYS",
        "GAZETTE_SHARDS",
        "GAZETTE_SOURCES",
    }


@pytest.mark.parametrize(("kind", "field"), VARIABLES)
def test_missing_variable_is_reported_by_name(kind: type[Settings], field: str) -> None:
    environment = build(kind).to_env()
    variable = f"GAZETTE_{field.upper()}"
    del environment[variable]
    with pytest.raises(InvalidSetting, match=rf"^{variable} is not set"):
        kind.from_env(environment)


@pytest.mark.parametrize(("kind", "field"), NUMBERS)
@pytest.mark.parametrize("text", ["", "ten", "1.5", "1e3"])
def test_invalid_integer_is_reported_with_its_variable(
    kind: type[Settings], field: str, text: str
) -> None:
    variable = f"GAZETTE_{field.upper()}"
    with pytest.raises(InvalidSetting, match=rf"^{variable} is '{text}'"):
        kind.from_env(build(kind).to_env() | {variable: text})


@pytest.mark.parametrize("spread", [0, 1, 900])
def test_spread_up_to_sqs_maximum_is_accepted(spread: int) -> None:
    build(FanoutSettings, spread=spread)


@pytest.mark.parametrize("spread", [-1, 901])
def test_spread_out_of_range_is_rejected(spread: int) -> None:
    with pytest.raises(InvalidSetting, match="GAZETTE_SPREAD"):
        build(FanoutSettings, spread=spread)


@pytest.mark.parametrize("lag", [-1, 0, 1, 6])
def test_settle_lag_must_exceed_write_time_and_clock_skew(lag: int) -> None:
    with pytest.raises(InvalidSetting, match="GAZETTE_SETTLE_LAG"):
        build(GenerateSettings, settle_lag=lag)
    build(GenerateSettings, settle_lag=7)
    build(GenerateSettings, settle_lag=2, clock_skew=0)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (GenerateSettings, {"send_timeout": 2}),
        (GenerateSettings, {"smtp_reply_timeout": 59}),
        (GenerateSettings, {"smtp_reply_timeout": 721}),
        (GenerateSettings, {"clock_skew": -1}),
        (GenerateSettings, {"max_blocks": 0}),
        (GenerateSettings, {"event_retention_days": 0}),
        (GenerateSettings, {"smtp_security": "TLS"}),
        (GenerateSettings, {"smtp_security": "none", "smtp_secret": "login"}),
        (GenerateSettings, {"emails_per_second": -1}),
        (GenerateSettings, {"mail_provider": "smtp", "emails_per_second": 501}),
        (GenerateSettings, {"emails_per_second": 5001}),
        (GenerateSettings, {"emails_per_second": 0, "mail_provider": "smtp"}),
        (GenerateSettings, {"ramp_from": -1}),
        (GenerateSettings, {"warmup_daily": 0}),
        *(
            (kind, {"immediate_share": share})
            for kind in (GenerateSettings, FanoutSettings)
            for share in (0, 100)
        ),
        *((GenerateSettings, {"warmup_from": day}) for day in ("tomorrow", "2026-02-30", " ")),
        (FanoutSettings, {"shards": 0}),
        (FanoutSettings, {"shards": 257}),
        (FanoutSettings, {"max_lateness": 599}),
        (FanoutSettings, {"check_after": -1}),
        *(
            (kind, setting)
            for kind in (IngestSettings, FollowersSettings)
            for setting in (
                {"shards": 0},
                {"shards": 257},
                {"collapse": 0},
                {"collapse": 301},
                {"settle_lag": 0},
                {"settle_lag": 301},
                {"clock_skew": -1},
                {"clock_skew": 61},
                {"check_after": -1},
                {"event_retention_days": 0},
            )
        ),
    ],
)
def test_setting_that_breaks_a_guarantee_is_rejected(
    kind: type[Settings], given: dict[str, Any]
) -> None:
    with pytest.raises(InvalidSetting, match=f"GAZETTE_{next(iter(given)).upper()}"):
        build(kind, **given)


def test_rate_is_limited_by_write_capacity_of_a_row() -> None:
    build(GenerateSettings, emails_per_second=MAX_RATE)
    with pytest.raises(InvalidSetting, match=r"is 5001; .+ 0 to 5000: .+ one row of DynamoDB"):
        build(GenerateSettings, emails_per_second=5001)


def test_rate_and_warm_up_settings_are_optional() -> None:
    build(GenerateSettings, emails_per_second=0, ramp_from=0, warmup_from="")


def test_immediate_run_delay_stays_within_sqs_maximum() -> None:
    """Each at its most, and the second that ingest adds against rounding."""
    most = build(IngestSettings, collapse=300, settle_lag=300, clock_skew=60)
    assert isinstance(most, IngestSettings)
    assert most.collapse + most.hold <= LONGEST_DELAY


@pytest.mark.parametrize("kind", [IngestSettings, FollowersSettings])
@pytest.mark.parametrize("given", ["{}", *(f'{{"comment": "{name}"}}' for name in Frequency)])
def test_every_frequency_can_be_a_default(kind: type[Settings], given: str) -> None:
    assert build(kind, default_frequencies=given).to_env()["GAZETTE_DEFAULT_FREQUENCIES"] == given


@pytest.mark.parametrize("kind", [IngestSettings, FollowersSettings])
@pytest.mark.parametrize(
    "given",
    [
        "",
        "daily",
        '"daily"',
        '["daily"]',
        '{"comment": "hourly"}',
        '{"comment": null}',
        "null",
        '{"a b": "daily"}',
        '{"": "daily"}',
    ],
)
def test_invalid_default_frequency_is_rejected(kind: type[Settings], given: str) -> None:
    with pytest.raises(InvalidSetting, match=r"^GAZETTE_DEFAULT_FREQUENCIES is .+ one of custom,"):
        build(kind, default_frequencies=given)


@pytest.mark.parametrize("given", ["[]", '["security"]', '["security", "payment_failed"]'])
def test_critical_categories_can_be_configured(given: str) -> None:
    found = build(IngestSettings, critical_categories=given).to_env()
    assert found["GAZETTE_CRITICAL_CATEGORIES"] == given


@pytest.mark.parametrize(
    "given",
    [
        "",
        "security",
        '"security"',
        '{"security": true}',
        '["Security"]',
        '["*"]',
        "[1]",
        "null",
        json.dumps([f"c{number}" for number in range(MOST_CRITICAL + 1)]),
    ],
)
def test_invalid_critical_categories_are_rejected(given: str) -> None:
    with pytest.raises(InvalidSetting, match=r"^GAZETTE_CRITICAL_CATEGORIES is .+ categories at m"):
        build(IngestSettings, critical_categories=given)


@pytest.mark.parametrize("often", [each for each in Frequency if each != "immediate"])
def test_critical_category_cannot_have_other_default_frequency(often: str) -> None:
    defaults = json.dumps({"security": often, "like": "never"})
    with pytest.raises(InvalidSetting, match=r"^GAZETTE_CRITICAL_CATEGORIES names security, to wh"):
        build(IngestSettings, default_frequencies=defaults)
    build(IngestSettings, default_frequencies='{"security": "immediate"}')


@pytest.mark.parametrize(
    "given", ["{}", '{"subscriber.deleted": ["shop.accounts"], "event.created": ["a", "b c"]}']
)
def test_detail_type_can_be_restricted_to_sources(given: str) -> None:
    assert build(IngestSettings, sources=given).to_env()["GAZETTE_SOURCES"] == given


@pytest.mark.parametrize("given", ["", "shop", '"shop"', '["shop.accounts"]', "null"])
def test_allowed_sources_must_be_lists_by_detail_type(given: str) -> None:
    with pytest.raises(InvalidSetting, match=r"^GAZETTE_SOURCES is .+ such as \{"):
        build(IngestSettings, sources=given)


def test_allowed_sources_of_unknown_detail_type_are_rejected() -> None:
    """It would keep nobody from what was meant."""
    with pytest.raises(
        InvalidSetting,
        match=r"^GAZETTE_SOURCES names 'subscriber\.erased'.+ of activity\.created, .+ remove it",
    ):
        build(IngestSettings, sources='{"subscriber.erased": ["shop.accounts"]}')


@pytest.mark.parametrize(
    "listed", ["[]", '"shop.accounts"', '[""]', '["a", " b"]', "[1]", "null", "{}", '["a\\n"]']
)
def test_invalid_source_lists_are_rejected(listed: str) -> None:
    """Nobody at all is never meant: that would be no list, or a rule on the bus."""
    with pytest.raises(
        InvalidSetting,
        match=r"^GAZETTE_SOURCES is .+ for 'subscriber\.deleted'; .+ remove it to allow every ",
    ):
        build(IngestSettings, sources=f'{{"subscriber.deleted": {listed}}}')


@pytest.mark.parametrize("provider", ["", "SES", "sendmail"])
def test_unknown_mail_provider_is_rejected(provider: str) -> None:
    with pytest.raises(InvalidSetting, match="GAZETTE_MAIL_PROVIDER"):
        build(GenerateSettings, mail_provider=provider)
    build(GenerateSettings, mail_provider="smtp")


@pytest.mark.parametrize(("events", "longest"), [(35, 196), (162, 196), (163, 197), (400, 434)])
def test_runs_are_retained_longer_than_events(events: int, longest: int) -> None:
    """Else an event that was sent would look as if no run had sent it."""
    for days in (1, longest):
        with pytest.raises(
            InvalidSetting, match=rf"GAZETTE_RUN_RETENTION_DAYS is {days}; .* more than {longest},"
        ):
            build(GenerateSettings, event_retention_days=events, run_retention_days=days)
    build(GenerateSettings, event_retention_days=events, run_retention_days=longest + 1)


def test_environment_settings_are_validated() -> None:
    environment = build(FanoutSettings).to_env() | {"GAZETTE_SPREAD": "901"}
    with pytest.raises(InvalidSetting, match="GAZETTE_SPREAD"):
        FanoutSettings.from_env(environment)


@pytest.mark.parametrize(
    ("hosts", "said"),
    [
        *(
            (f'["example.com", "{entry}"]', f"'{entry}' is not a host: write example.com")
            for entry in ("https://example.com", "example.com/a", "example.com:443", "", "*")
        ),
        ("[7]", "7 is not a host"),
        ("example.com", "it must be a list of hosts"),
        ('"example.com"', "it must be a list of hosts"),
        ('{"example.com": 1}', "it must be a list of hosts"),
    ],
)
def test_invalid_link_hosts_are_rejected_by_name(hosts: str, said: str) -> None:
    with pytest.raises(InvalidSetting, match=r"^GAZETTE_LINK_HOSTS is ") as refused:
        build(IngestSettings, link_hosts=hosts)
    assert said in str(refused.value)


def test_link_hosts_exceeding_environment_limit_are_rejected() -> None:
    build(IngestSettings, link_hosts=json.dumps(["a" * 60] * 31))
    with pytest.raises(
        InvalidSetting, match=r"GAZETTE_LINK_HOSTS is 2,048 characters long; .*2,000"
    ):
        build(IngestSettings, link_hosts=json.dumps(["a" * 60] * 32))


def test_empty_list_of_link_hosts_is_valid() -> None:
    build(IngestSettings, link_hosts="[]")


@pytest.mark.parametrize("kind", [GenerateSettings, ResendSettings, PreferencesSettings])
def test_stage_weights_override_defaults(kind: type[Settings]) -> None:
    settings = build(
        kind,
        ranking="latest",
        category_weights='{"sale": 7.5, "like": 2}',
        sections="category",
        full_blocks=3,
    )
    assert isinstance(settings, ArrangementSettings)
    assert settings.arrangement == Arrangement(
        ranking=Ranking.LATEST,
        weights={**WEIGHTS, "sale": 7.5, "like": 2},
        sections=Sections.CATEGORY,
        full_blocks=3,
    )


@pytest.mark.parametrize("kind", [GenerateSettings, ResendSettings, PreferencesSettings])
@pytest.mark.parametrize(
    "given", ["", "null", "[]", '{"like": "2"}', '{"like": true}', '{"like": 1001}', '{"a b": 1}']
)
def test_non_numeric_weights_are_rejected(kind: type[Settings], given: str) -> None:
    with pytest.raises(InvalidSetting, match=r"^GAZETTE_CATEGORY_WEIGHTS is .+ from 0 to 1000"):
        build(kind, category_weights=given)


@pytest.mark.parametrize("kind", [GenerateSettings, ResendSettings])
def test_minimum_of_a_daily_digest_uses_the_weights_of_the_stage(
    kind: type[SendingSettings],
) -> None:
    settings = build(kind, digest_worth='{"score": 1.5, "days": 14}', category_weights='{"a": 2}')
    assert isinstance(settings, SendingSettings)
    weights = {**WEIGHTS, "a": 2}
    assert settings.worth == Worth(score=1.5, longest_wait=timedelta(days=14), weights=weights)
    off = build(kind, digest_worth="{}")
    assert isinstance(off, SendingSettings)
    assert off.worth is None


@pytest.mark.parametrize(
    "given",
    [
        "",
        "null",
        "1",
        '{"score": 1}',
        '{"days": 3}',
        '{"score": 0, "days": 3}',
        '{"score": -1, "days": 3}',
        '{"score": 10001, "days": 3}',
        '{"score": NaN, "days": 3}',
        '{"score": true, "days": 3}',
        '{"score": "1", "days": 3}',
        '{"score": 1, "days": 0}',
        '{"score": 1, "days": 15}',
        '{"score": 1, "days": 2.5}',
        '{"score": 1, "days": true}',
        '{"score": 1, "days": 3, "hours": 2}',
    ],
)
def test_invalid_minimum_of_a_daily_digest_is_rejected(given: str) -> None:
    with pytest.raises(InvalidSetting, match=r"^GAZETTE_DIGEST_WORTH is .+ 1 to 14 days"):
        build(GenerateSettings, digest_worth=given)


@pytest.mark.parametrize("kind", [IngestSettings, GenerateSettings, PreferencesSettings])
def test_limit_of_immediate_emails_is_read(kind: type[RoutingSettings]) -> None:
    settings = build(kind, immediate_limit='{"per_hour": 1, "per_day": 500}')
    assert isinstance(settings, RoutingSettings)
    assert settings.limit == ImmediateLimit(per_hour=1, per_day=500)
    off = build(kind, immediate_limit="{}")
    assert isinstance(off, RoutingSettings)
    assert off.limit is None


@pytest.mark.parametrize(
    "given",
    [
        "",
        "null",
        "6",
        '{"per_hour": 6}',
        '{"per_day": 30}',
        '{"per_hour": 0, "per_day": 30}',
        '{"per_hour": 61, "per_day": 100}',
        '{"per_hour": 6, "per_day": 5}',
        '{"per_hour": 6, "per_day": 501}',
        '{"per_hour": 1.5, "per_day": 30}',
        '{"per_hour": "6", "per_day": 30}',
        '{"per_hour": true, "per_day": 30}',
        '{"per_hour": 6, "per_day": 30, "per_week": 60}',
    ],
)
def test_invalid_limit_of_immediate_emails_is_rejected(given: str) -> None:
    with pytest.raises(InvalidSetting, match=r"^GAZETTE_IMMEDIATE_LIMIT is .+ 500 emails a day"):
        build(IngestSettings, immediate_limit=given)


def test_content_source_settings_match_domain() -> None:
    assert LISTS["content_sources"] == CONTENT_SOURCES
    assert CATEGORY_OF == {ASKED_SOURCE: RECOMMENDATION}


@pytest.mark.parametrize(
    "given",
    ["", "events", "[]", '["recommendations"]', '["events", "events"]', '["events", "x"]', "[[]]"],
)
def test_unknown_content_sources_are_rejected_by_name(given: str) -> None:
    with pytest.raises(InvalidSetting, match=r"GAZETTE_CONTENT_SOURCES .* a list of events and"):
        build(IngestSettings, content_sources=given)
