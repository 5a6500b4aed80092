"""Reading a stage: what is right, and which field is named when something is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
from gazette.settings.ranges import CHOICES, SECOND

from gazette_cdk.stage.links import burst_of
from gazette_cdk.stages import StageError, read_stage
from gazette_cdk.topology import GENERATE, RESEND

VALID: dict[str, Any] = {
    "sender": "Gazette <digest@example.com>",
    "list_id": "digest.example.com",
}


def refusal(given: dict[str, Any]) -> str:
    """What StageError says about a stage."""
    with pytest.raises(StageError) as caught:
        read_stage("prod", {"prod": given})
    return str(caught.value)


def test_stage_settings_override_defaults() -> None:
    stage = read_stage("prod", {"prod": VALID | {"shards": 32, "retain": False}})
    assert (stage.name, stage.shards, stage.retain) == ("prod", 32, False)
    assert (stage.list_id, stage.sender) == (VALID["list_id"], VALID["sender"])
    assert (stage.bus, stage.mail_provider, stage.spread) == ("gazette", "ses", 600 * SECOND)
    assert (stage.collapse, stage.settle_lag) == (20 * SECOND, 15 * SECOND)
    assert stage.default_frequencies == {}


def test_send_rate_is_required_only_without_ses() -> None:
    stage = read_stage("prod", {"prod": VALID})
    assert (stage.emails_per_second, stage.ramp_from) == (0, 10)
    assert (stage.warmup_from, stage.warmup_daily, stage.immediate_share) == ("", 200, 20)
    smtp = VALID | {"mail_provider": "smtp", "smtp_host": "mail.example.com"}
    assert "mail_provider smtp needs unknown_policy carry_over or assume_sent" in refusal(smtp)
    smtp |= {"unknown_policy": "carry_over"}
    assert "mail_provider smtp needs emails_per_second" in refusal(smtp)
    assert read_stage("prod", {"prod": smtp | {"emails_per_second": 5}}).emails_per_second == 5
    too_many = smtp | {"emails_per_second": 501}
    assert "must be at most 500 with mail_provider smtp" in refusal(too_many)


@pytest.mark.parametrize("share", [0, 100])
def test_stream_without_share_of_rate_is_rejected(share: int) -> None:
    assert "immediate_share must be 1 to 99" in refusal(VALID | {"immediate_share": share})


@pytest.mark.parametrize("rate", [-1, 5001])
def test_rate_above_capacity_of_a_row_is_rejected_with_reason(rate: int) -> None:
    text = refusal(VALID | {"emails_per_second": rate})
    assert "emails_per_second must be 0 to 5000: every ten emails write one row" in text


def test_category_frequencies_must_be_an_object() -> None:
    chosen = {"comment": "weekly", "mention": "immediate"}
    stage = read_stage("prod", {"prod": VALID | {"default_frequencies": chosen}})
    assert stage.default_frequencies == chosen


def test_link_hosts_are_a_list_and_empty_by_default() -> None:
    assert read_stage("prod", {"prod": VALID}).link_hosts == []
    hosts = ["shop.example", "*.shop.example"]
    assert read_stage("prod", {"prod": VALID | {"link_hosts": hosts}}).link_hosts == hosts


@pytest.mark.parametrize(
    "sender", ["digest@example.com", "Gazette <digest@example.com>", '"A, B" <digest@example.com>']
)
def test_sender_address_excludes_display_name(sender: str) -> None:
    assert read_stage("prod", {"prod": VALID | {"sender": sender}}).streams[0].address == (
        "digest@example.com"
    )


def test_all_independent_errors_are_reported_together() -> None:
    """A sender that is missing is not under the domain either; nobody wants to hear that."""
    lines = refusal(
        {
            "list_id": "digest.example.com",
            "shard": 4,
            "shards": "4",
            "domain": "example.com",
            "account": "1234",
            "tls": "maybe",
            "feedback_window": 31,
            "evidence_grace": 61,
            "max_blocks": 0,
            "settle_lag": 6,
            "warmup_from": "21 November",
        }
    ).splitlines()
    begin = "Stage 'prod' in cdk.json: "
    lagging = (
        "settle_lag is 6; it must be more than 1.5 seconds, the longest write of an event, plus "
        "clock_skew, which is 5."
    )
    window = (
        "feedback_window must be at most half of evidence_grace, 30. Otherwise unknown_policy "
        "would apply while Lambda still collects the evidence. "
        'It has "feedback_window": 31, "evidence_grace": 61.'
    )
    assert [line.removeprefix(begin) for line in lines] == [
        (
            "there is no setting 'shard'. docs/configuration.md lists all settings. "
            'It has "shard": 4.'
        ),
        'shards must be of type int. It has "shards": "4".',
        "sender is missing. docs/configuration.md describes its value.",
        'max_blocks must be 1 or more. It has "max_blocks": 0.',
        'account must be twelve digits, such as 123456789012. It has "account": "1234".',
        'tls must be optional or require. It has "tls": "maybe".',
        window,
        "warmup_from is '21 November'; it must be empty or a date such as 2026-11-21.",
        lagging,
    ]


@pytest.mark.parametrize(
    ("setting", "value"),
    [("mail_provider", "sendmail"), ("smtp_security", "ssl"), ("unknown_policy", "forget")],
)
def test_invalid_choice_error_lists_valid_choices(setting: str, value: str) -> None:
    *_, last = CHOICES[setting]
    text = refusal(VALID | {setting: value})
    assert f"{setting} must be {CHOICES[setting][0]}" in text
    assert f' or {last}. It has "{setting}": "{value}".' in text


def test_invalid_time_zone_is_reported_once() -> None:
    """A mistake is named once; others beside it still are."""
    domain = {"domain": "example.com", "links_domain": "links.example.com"}
    (line,) = refusal(VALID | domain | {"hosted_zone": {"id": "Z0"}}).splitlines()
    assert "hosted_zone must be like" in line
    elsewhere = {"hosted_zone": {"id": "Z0", "name": "shop.dev"}}
    assert len(refusal(VALID | domain | elsewhere).splitlines()) == 2


def test_every_stage_in_repository_is_valid() -> None:
    cdk = json.loads((Path(__file__).parents[3] / "cdk.json").read_text())
    stages = cdk["context"]["stages"]
    assert {read_stage(name, stages).name for name in stages} == set(stages)


def test_unknown_stage_error_lists_known_stages() -> None:
    with pytest.raises(StageError, match=r"no stage 'test'.+ stages are local, prod\."):
        read_stage("test", {"prod": VALID, "local": VALID})


@pytest.mark.parametrize("given", [5, None, [], "prod"])
def test_non_object_stage_error_explains_the_fix(given: Any) -> None:
    with pytest.raises(StageError, match=r"Stage 'prod' in cdk.json: a stage must be an object"):
        read_stage("prod", {"prod": given})


def test_unknown_setting_is_reported_by_name() -> None:
    assert "'shard'" in refusal(VALID | {"shard": 16})


def test_stage_name_is_its_key_and_not_a_setting() -> None:
    assert "'name'" in refusal(VALID | {"name": "other"})


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("shards", "16", "int"),
        ("shards", 16.0, "int"),
        ("shards", True, "int"),
        ("spread", None, "int"),
        ("retain", "yes", "bool"),
        ("retain", 1, "bool"),
        ("sender", 1, "str"),
        ("list_id", ["x"], "str"),
        ("collapse", "20", "int"),
        ("default_frequencies", "weekly", "dict"),
        ("default_frequencies", ["weekly"], "dict"),
        ("default_frequencies", None, "dict"),
        ("sources", ["shop.accounts"], "dict"),
        ("link_hosts", "example.com", "list"),
        ("link_hosts", None, "list"),
    ],
)
def test_setting_of_wrong_type_is_reported_with_expected_type(
    field: str, value: Any, kind: str
) -> None:
    text = refusal(VALID | {field: value})
    assert f"{field} must be of type {kind}" in text


@pytest.mark.parametrize("field", ["sender", "list_id"])
def test_missing_or_empty_required_setting_is_reported(field: str) -> None:
    assert f"{field} is missing" in refusal(VALID | {field: ""})
    assert f"{field} is missing" in refusal({name: VALID[name] for name in VALID if name != field})


@pytest.mark.parametrize(
    "sender",
    [
        "Gazette",
        "digest example.com",
        "ä@example.com",
        "Gazette <>",
        "digest@",
        "@example.com",
        "a@b@c",
    ],
)
def test_sender_without_address_is_rejected(sender: str) -> None:
    assert "sender must be an address" in refusal(VALID | {"sender": sender})


@pytest.mark.parametrize(
    ("setting", "wrong", "said"),
    [
        ("requests_per_second", 0, "requests_per_second must be 1 to 10000"),
        ("requests_per_second", 10_001, "requests_per_second must be 1 to 10000"),
        ("requests_burst", 100, "requests_burst is no longer a setting"),
        ("lookback_slots", 6, "lookback_slots is no longer a setting"),
        ("smtp_command_timeout", 20, "smtp_command_timeout is no longer a setting, because each"),
        ("services_api", {"requests_per_second": 0}, "NUMBER is 1 to 10000"),
        ("services_api", {"requests_per_second": 10_001}, "NUMBER is 1 to 10000"),
        ("services_api", {"requests_per_second": True}, "NUMBER is 1 to 10000"),
        ("services_api", {"requests_per_second": "50"}, "NUMBER is 1 to 10000"),
        ("services_api", {"rate": 50}, 'services_api must be {"requests_per_second": NUMBER}'),
        ("services_api", {"return": True}, 'services_api must be {"requests_per_second": NUMBER}'),
        ("services_api", {"requests_per_second": 50, "return": 1}, 'Add "return": true only'),
        ("services_api", {"requests_per_second": 50, "return": "true"}, 'Add "return": true only'),
        ("services_api", True, "services_api must be of type dict"),
    ],
)
def test_request_limits_above_account_limits_are_rejected(
    setting: str, wrong: object, said: str
) -> None:
    assert said in refusal(VALID | {setting: wrong})


@pytest.mark.parametrize(("rate", "burst"), [(1, 2), (50, 100), (2_500, 5_000), (10_000, 5_000)])
def test_burst_limit_is_two_seconds_of_requests(rate: int, burst: int) -> None:
    assert burst_of(rate) == burst


def test_default_request_limit_is_50_per_second() -> None:
    assert read_stage("prod", {"prod": VALID}).requests_per_second == 50


def test_api_for_services_is_off_by_default() -> None:
    assert read_stage("prod", {"prod": VALID}).services_rate == 0
    on = {"services_api": {"requests_per_second": 20}}
    assert read_stage("prod", {"prod": VALID | on}).services_rate == 20


@pytest.mark.parametrize(
    ("entry", "accepts"), [({}, False), ({"return": False}, False), ({"return": True}, True)]
)
def test_services_may_return_subscribers_only_if_allowed(
    entry: dict[str, bool], accepts: bool
) -> None:
    on = {"services_api": {"requests_per_second": 20, **entry}}
    stage = read_stage("prod", {"prod": VALID | on})
    assert stage.accepts_consent is accepts
    assert any(route.option for route in stage.service_routes) is accepts


@pytest.mark.parametrize("shards", [0, -1, 257])
def test_shard_count_out_of_range_is_rejected(shards: int) -> None:
    assert "shards must be 1 to 256" in refusal(VALID | {"shards": shards})


@pytest.mark.parametrize("shards", [1, 256])
def test_minimum_and_maximum_shard_counts_are_accepted(shards: int) -> None:
    assert read_stage("prod", {"prod": VALID | {"shards": shards}}).shards == shards


def test_tracking_is_off_by_default_and_requires_ses() -> None:
    stage = read_stage("prod", {"prod": VALID})
    tracked = (stage.track_clicks, stage.track_opens, stage.opens_are_life)
    assert tracked == (False, False, False)
    smtp = VALID | {
        "mail_provider": "smtp",
        "smtp_host": "mail.example.com",
        "unknown_policy": "carry_over",
        "emails_per_second": 5,
    }
    for setting in ("track_clicks", "track_opens"):
        assert "need mail_provider ses" in refusal(smtp | {setting: True})
    assert "opens_are_life needs track_opens" in refusal(VALID | {"opens_are_life": True})


def test_immediate_sender_defaults_to_digest_sender() -> None:
    digest, immediate = read_stage("prod", {"prod": VALID}).streams
    assert digest.address == immediate.address == "digest@example.com"
    given = {"immediate_sender": "Now <now@example.com>", "immediate_pool": "at-once"}
    digest, immediate = read_stage("prod", {"prod": VALID | given}).streams
    assert (digest.address, digest.pool) == ("digest@example.com", "")
    assert (immediate.address, immediate.pool) == ("now@example.com", "at-once")


def test_invalid_stream_sender_is_reported_by_setting_name() -> None:
    assert "immediate_sender must be an address" in refusal(VALID | {"immediate_sender": "Now"})
    assert "immediate_sender must be one line" in refusal(
        VALID | {"immediate_sender": "Now\n <now@example.com>"}
    )
    assert "digest_pool must be the name" in refusal(VALID | {"digest_pool": "Digests!"})
    smtp = VALID | {"mail_provider": "smtp", "smtp_host": "mail.example.com"}
    assert "immediate_pool is a dedicated IP pool of SES" in refusal(smtp | {"immediate_pool": "x"})


SMTP = VALID | {
    "mail_provider": "smtp",
    "smtp_host": "mail.example.com",
    "unknown_policy": "carry_over",
    "emails_per_second": 5,
}


@pytest.mark.parametrize(
    "host",
    [
        "mail.example.com",
        "MAIL.Example.com",
        "email-smtp.eu-west-1.amazonaws.com",
        "xn--bcher-kva.example",
        "localhost",
        "127.0.0.1",
        "2001:db8::1",
        f"{'a' * 63}.example",
    ],
)
def test_smtp_server_can_be_host_name_or_ip_address(host: str) -> None:
    assert read_stage("prod", {"prod": SMTP | {"smtp_host": host}}).smtp_host == host


@pytest.mark.parametrize(
    ("host", "remedy"),
    [
        ("mail.bücher.example", "Write it like mail.xn--bcher-kva.example;"),
        ("mail。example", "Write it like mail.example;"),
        ("mail.straße.example", "Write it like mail.xn--strae-oqa.example;"),
        ("mail.example.com.", "Write it like mail.example.com;"),
        ("smtp://mail.example.com", "without scheme, port, path or spaces"),
        ("mail.example.com:465", "without scheme, port, path or spaces"),
        ("mail.example.com/", "without scheme"),
        ("mail.example.com.", "smtp_host must be a host name"),
        ("mail..example.com", "smtp_host must be a host name"),
        (".example.com", "smtp_host must be a host name"),
        ("mail example.com", "smtp_host must be a host name"),
        (" mail.example.com", "smtp_host must be a host name"),
        ("mail.example.com\n", "smtp_host must be a host name"),
        ("-mail.example.com", "smtp_host must be a host name"),
        ("mail_1.example.com", "smtp_host must be a host name"),
        ("[127.0.0.1]", "smtp_host must be a host name"),
        ("127.0.0.256", "smtp_host must be a host name"),
        ("user@mail.example.com", "smtp_host must be a host name"),
        (f"{'a' * 64}.example", "smtp_host must be a host name"),
        (".".join(["a" * 60] * 5), "smtp_host must be a host name"),
        ("mail\x00", "smtp_host must be a host name"),
    ],
)
def test_invalid_smtp_host_name_is_rejected(host: str, remedy: str) -> None:
    (line,) = refusal(SMTP | {"smtp_host": host}).splitlines()
    assert line.count("smtp_host") == 2, "the text names it, and shows it once with its value"
    assert remedy in line


@pytest.mark.parametrize("port", [0, -1, 65_536])
def test_invalid_smtp_port_is_rejected(port: int) -> None:
    assert "smtp_port must be 1 to 65535" in refusal(SMTP | {"smtp_port": port})


@pytest.mark.parametrize("domain", [f"shop.{'a' * 64}", "shop.bücher.example", "shop..example"])
def test_invalid_domain_is_rejected(domain: str) -> None:
    assert "domain must be a domain" in refusal(VALID | {"domain": domain})


@pytest.mark.parametrize(
    ("sender", "said"),
    [
        ("=?utf-8?q?K=C3=A4se?= <digest@example.com>", "sender must not have encoded words"),
        ("a\u202eb <digest@example.com>", "sender must be one line without control characters"),
        ("a\x00b <digest@example.com>", "sender must be one line without control characters"),
        ("Käse <digést@example.com>", "sender must be an address"),
        ("Käse <digest@bücher.example>", "sender must have an address in ASCII"),
    ],
)
def test_sender_name_with_encoding_or_bidi_tricks_is_rejected(sender: str, said: str) -> None:
    assert said in refusal(VALID | {"sender": sender})


def test_sender_name_may_contain_joined_letters_and_emoji() -> None:
    for name in ("\U0001f468\u200d\U0001f469\u200d\U0001f467", "می\u200cخواهم"):
        assert read_stage("prod", {"prod": VALID | {"sender": f"{name} <digest@example.com>"}})


def test_smtp_timeouts_must_fit_maximum_invocation_time() -> None:
    """Nine stages, the reply, a second for a permit, a minute to prepare, and the commit."""
    smtp = VALID | {
        "mail_provider": "smtp",
        "smtp_host": "mail.example.com",
        "unknown_policy": "carry_over",
        "emails_per_second": 5,
    }
    most = {"smtp_reply_timeout": 651}
    assert read_stage("prod", {"prod": smtp | most}).sized(GENERATE).timeout == 900
    more = {"smtp_reply_timeout": 652}
    assert "smtp_reply_timeout and nine SMTP steps of 20 seconds" in refusal(smtp | most | more)


def test_smtp_timeouts_are_ignored_with_ses() -> None:
    stage = read_stage("prod", {"prod": VALID | {"smtp_reply_timeout": 720}})
    assert {stage.sized(step).timeout for step in (GENERATE, RESEND)} == {GENERATE.timeout}


def test_renamed_setting_error_gives_new_name() -> None:
    assert "max_groups is now max_blocks" in refusal(VALID | {"max_groups": 20})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ranking": "newest"}, "ranking must be relevance, most_active or latest"),
        ({"sections": "topic"}, "sections must be none, category or parent"),
        ({"full_blocks": -1}, "full_blocks must be 0 or more"),
        ({"category_weights": {"like": -1}}, "must give each category a number from 0 to 1000"),
        ({"category_weights": {"like": "1"}}, "must give each category a number from 0 to 1000"),
        ({"category_weights": {"a b": 1}}, "must give each category a number from 0 to 1000"),
        ({"digest_worth": {"score": 1}}, "digest_worth is '{\"score\": 1}'; it must be {} or"),
        ({"digest_worth": {"score": 1, "days": 15}}, "and 1 to 14 days"),
        (
            {"immediate_limit": {"per_hour": 6}},
            "immediate_limit is '{\"per_hour\": 6}'; it must be",
        ),
        ({"immediate_limit": {"per_hour": 6, "per_day": 5}}, "with 1 to 60 emails an hour"),
    ],
)
def test_unknown_arrangement_is_rejected(given: dict[str, object], said: str) -> None:
    assert said in refusal(VALID | given)
