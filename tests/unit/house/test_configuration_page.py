"""docs/configuration.md says what a stage may say."""

from tests.configuration_page import PAGE, groups, page, settings


def test_configuration_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"


def test_every_setting_belongs_to_one_group() -> None:
    assert sorted(name for names in groups().values() for name in names) == sorted(settings())
