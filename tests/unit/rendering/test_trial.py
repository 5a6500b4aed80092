"""Mistakes in templates that only rendering shows are found when they are built."""

from pathlib import Path

import pytest

from gazette_cdk.assets.templates.build import build_templates
from gazette_cdk.assets.templates.faults import TemplateError
from gazette_cdk.assets.templates.trial import try_out

SOURCE = Path(__file__).parents[3] / "templates"


def built_with(name: str, text: str, folder: Path) -> Path:
    """Our templates with this text in the place of one of them."""
    file = folder / "own" / name
    file.parent.mkdir(parents=True)
    file.write_text(text)
    build_templates(SOURCE, folder / "built", overlay=folder / "own")
    return folder / "built"


def test_built_in_templates_pass_the_trial_rendering(built_templates: Path) -> None:
    try_out(built_templates)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("digest/body.txt", "{{ nobody }}", r"^digest/body\.txt:1: .*'nobody' is undefined"),
        ("digest/block.html", "{% include 'nope.html' %}", r"^digest/block\.html:1: .*nope\.html"),
        ("immediate/subject.txt", "{{ groups[3].line }}", r"^immediate/subject\.txt:1: "),
        ("parts/more.html", "<p>{{ digest.left }}</p>", r"^parts/more\.html:1: .*'left'"),
        ("parts/why.txt", "{% if often == 'weekly' %}{{ x }}{% endif %}", r"^parts/why\.txt:1: "),
        ("categories/like/line.txt", "{{ _('50% of') }}", "an email cannot be rendered"),
        ("categories/sale/line.txt", "{{ peoples }}", r"^categories/sale/line\.txt:1: "),
        (
            "categories/like/line.txt",
            "{{ people }}{% if group.count > 1 and not group.people %}{{ x }}{% endif %}",
            r"^categories/like/line\.txt:1: ",
        ),
        ("parts/first.txt", "{{ x }}", r"^parts/first\.txt:1: "),
        ("parts/period.txt", "{{ x }}", r"^parts/period\.txt:1: "),
        ("parts/part.txt", "{% if part == 'for_you' %}{{ x }}{% endif %}", r"^parts/part\.txt:1: "),
        (
            "categories/other/count.txt",
            "{% if others %}{{ x }}{% endif %}",
            r"^categories/other/count\.txt:1: ",
        ),
        (
            "digest/block.txt",
            "{{ block.url }}{% if block.is_important %}{{ x }}{% endif %}",
            r"^digest/block\.txt:1: ",
        ),
        ("variations/3/digest/block.txt", "{{ x }}", r"3/digest/block\.txt:1: .*variation 3"),
        ("digest/subject.txt", "{{ 1 / (groups | length - 1) }}", "ZeroDivisionError"),
        (
            "locales/fr/LC_MESSAGES/messages.po",
            'msgid "Pause"\nmsgstr "100 % pr\u00e9f\u00e9rences"\n',
            "language fr",
        ),
    ],
)
def test_failing_template_is_named_by_the_trial_rendering(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    with pytest.raises(TemplateError, match=said):
        try_out(built_with(name, text, tmp_path))


@pytest.mark.parametrize(
    ("name", "removed", "said"),
    [
        ("digest/body.html", "{{ shown }}", r"^digest/body\.html: .*no link to the event"),
        ("digest/body.txt", "{{ shown }}", r"^digest/body\.txt: .*no link to the event"),
        ("immediate/body.html", "{{ shown }}", r"^immediate/body\.html: .*no link to the event"),
        ("digest/body.html", "{{ links.unsubscribe }}", r"^digest/body\.html: .*unsubscribe"),
        ("digest/body.txt", "{{ links.unsubscribe }}", r"^digest/body\.txt: .*unsubscribe"),
        ("immediate/body.txt", "{{ links.unsubscribe }}", r"^immediate/body\.txt: .*unsubscribe"),
    ],
)
def test_email_without_content_or_unsubscribe_link_fails_the_trial(
    tmp_path: Path, name: str, removed: str, said: str
) -> None:
    ours = (SOURCE / name).read_text()
    assert removed in ours
    with pytest.raises(TemplateError, match=said):
        try_out(built_with(name, ours.replace(removed, ""), tmp_path))
