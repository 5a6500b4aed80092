"""A template that is rendered again and again finds nothing of the time before."""

from pathlib import Path

import pytest
from gazette.adapters.rendering.environment import Press, environment
from gazette.adapters.rendering.language import SOURCE, Languages
from jinja2 import UndefinedError
from markupsafe import Markup, escape


def press(folder: Path, **files: str) -> Press:
    """One for these templates, by name without `.html`."""
    for name, text in files.items():
        (folder / f"{name}.html").write_text(text)
    return Press(environment(folder), Languages(folder).of(SOURCE).values())


def twice(press: Press, name: str) -> list[str]:
    template = press.environment.get_template(f"{name}.html")
    return [press.render(template) for _ in range(2)]


def test_template_variables_are_cleared_between_renderings(tmp_path: Path) -> None:
    text = "{% if said is defined %}again {% endif %}{% set said = 1 %}{{ said }}"
    assert twice(press(tmp_path, one=text), "one") == ["1", "1"]


def test_template_variables_are_not_shared_between_templates(tmp_path: Path) -> None:
    made = press(tmp_path, one="{% set said = 1 %}", two="{{ said }}")
    twice(made, "one")
    with pytest.raises(UndefinedError, match="said"):
        twice(made, "two")


def test_child_block_overrides_its_parent_in_repeated_renderings(tmp_path: Path) -> None:
    made = press(
        tmp_path,
        parent="{% block a %}A{% endblock %}{% block b %}B{% endblock %}",
        child='{% extends "parent.html" %}{% block a %}{{ super() }}-{% endblock %}',
    )
    assert twice(made, "child") == ["A-B", "A-B"]
    context = made._contexts[made.environment.get_template("child.html")]
    assert [len(blocks) for blocks in context.blocks.values()] == [2, 1]


def test_global_values_may_change_between_renderings(tmp_path: Path) -> None:
    made = press(tmp_path, one="{{ x }}")
    template = made.environment.get_template("one.html")
    said = []
    for made.values["x"] in ("<1>", "2"):
        said.append(made.render(template))
    assert said == ["&lt;1&gt;", "2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{% for x in 'ab' %}{{ loop.cycle('1', '2') }}{{ x.upper() }}{% endfor %}", "1A2B"),
        (
            "{% macro m(x) %}<{{ x }}>{{ caller() }}{% endmacro %}{% call m('&') %}c{% endcall %}",
            "<&amp;>c",
        ),
        ("{% set n = namespace(x=1) %}{% set n.x = 2 %}{{ n.x }}", "2"),
        ("{{ {'a': '<'}.a }}{{ {'a': 1}.items() | list }}", "&lt;[(&#39;a&#39;, 1)]"),
        ("{{ _('%(x)s & co', x='<') }}{% trans x='<' %}&{{ x }}{% endtrans %}", "&lt; & co&&lt;"),
        ("{% for x in '<' %}{% trans x=x %}&{{ x }}{% endtrans %}{% endfor %}", "&&lt;"),
        ("{{ range(3) | list }}{{ dict(a=1).a }}{{ lipsum is defined }}", "[0, 1, 2]1True"),
        ("{% for language_ in [language] %}{{ language_.number(1234) }}{% endfor %}", "1,234"),
    ],
)
def test_template_calls_behave_as_in_jinja(tmp_path: Path, text: str, said: str) -> None:
    assert twice(press(tmp_path, one=text), "one") == [said, said]


def test_included_templates_see_variables_of_the_including_template(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "x.txt").write_text("{{ x }}&")
    made = press(
        tmp_path, one="{% set x = '<' %}{% include 'two.html' %}{{ say('x') }}", two="{{ x }}"
    )
    assert twice(made, "one") == ["&lt;&lt;&amp;"] * 2


@pytest.mark.parametrize(
    "value",
    ['&amp; <a href="x">it\'s</a>', "“Zoë” & שלום <b>", "", Markup("<b>&amp;</b>"), 7, None],
)
def test_html_templates_escape_values_like_markupsafe(tmp_path: Path, value: object) -> None:
    made = press(
        tmp_path,
        one="{{ v }}{% macro m(x) %}{{ x }}{% endmacro %}{{ m(v) }}"
        "{% set s %}{{ v }}{% endset %}{{ s }}",
    )
    made.values["v"] = value
    assert twice(made, "one") == [3 * str(escape(value))] * 2
