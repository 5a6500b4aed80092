"""docs/configuration.md says what a stage may say."""

from tests.configuration_page import PAGE, groups, page, settings


def test_the_page_is_what_make_docs_would_write() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"


def test_every_setting_is_in_one_group() -> None:
    assert sorted(name for names in groups().values() for name in names) == sorted(settings())
