"""docs/configuration.md says what a stage may say."""

from tests.configuration_page import PAGE, groups, page, settings


def test_configuration_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"


def test_stage_has_at_most_99_settings() -> None:
    assert len(settings()) <= 99


def test_clocks_that_guarantees_depend_on_are_internals() -> None:
    assert groups()["Internals"] == (
        "settle_lag",
        "clock_skew",
        "commit_margin",
        "check_after",
        "send_timeout",
        "smtp_command_timeout",
        "smtp_reply_timeout",
    )


def test_every_setting_belongs_to_one_group() -> None:
    assert sorted(name for names in groups().values() for name in names) == sorted(settings())
