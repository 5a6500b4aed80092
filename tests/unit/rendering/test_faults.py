"""All faults of an adopter's templates are reported at once, with file and line."""

import json
from pathlib import Path

import pytest

from gazette_cdk.assets.templates.build import build_and_try, build_templates
from gazette_cdk.assets.templates.faults import Fault, TemplateError
from gazette_cdk.assets.templates.json_lines import line_at, lines_in
from tests.unit.rendering.test_templates import SOURCE, write

FILES = {
    "brand.json": (
        '{"name": "Shop",\n "postal_address": "1 High Street",\n'
        ' "colour": "red",\n "accent": "#fbbf24"}'
    ),
    "categories.json": (
        '{\n "build_failed": {\n  "en": {"one": "Build failed", "several": "Builds failed"},\n'
        '  "fr": {"name": "x"}\n },\n "Deploy": {}\n}'
    ),
    "categories/review/data.schema.json": (
        '{\n "required": ["a"],\n "propertys": {},\n "properties": {"a": {"typ": "string"}}\n}'
    ),
    "digest/body.txt": "News\n\n{% if %}",
    "digest/block.html": '<p\n class="{{ x }}">y</p>\n<p {{ y }}>\n{{ block.colour }}</p>',
    "email.css": "p { color: red }\n.a,\n.b:first-child { color: red }\n",
    "immediate/block.txt": "{{ block.url }}\n{{ block.shape }}",
    "locales/xx_YY/LC_MESSAGES/messages.po": 'msgid "Pause"\nmsgstr "Auszeit"\n',
    "settings.json": '{\n "max_blocks": 0,\n "shards": 2\n}',
    "unused.html": "<p>x</p>",
    "variations/2/variation.json": "{}",
    "variations/12/digest/subject.txt": "x",
}

FAULTS = [
    ("brand.json", 3, "unknown field 'colour'"),
    ("brand.json", 4, "accent has a contrast of 1.7"),
    ("categories.json", 3, "build_failed.en.several must contain {count}."),
    ("categories.json", 4, "build_failed.fr: emails have no language 'fr'."),
    ("categories.json", 6, "'Deploy' is not a category."),
    ("categories/review/data.schema.json", 3, "at the top: draft 07 has no keyword 'propertys'"),
    ("categories/review/data.schema.json", 4, "properties/a: draft 07 has no keyword 'typ'"),
    ("digest/block.html", 2, "the attribute"),
    ("digest/block.html", 3, "{{ y }} is among the attributes of <p."),
    ("digest/body.txt", 3, "Expected an expression"),
    ("email.css", 2, "the selector '.a,\\n.b:first-child' counts siblings"),
    ("immediate/block.txt", 2, "an email cannot be rendered"),
    ("locales/xx_YY", 0, "name it by its language tag"),
    ("settings.json", 2, "max_blocks is 0"),
    ("settings.json", 3, "'shards' is not a template setting"),
    ("unused.html", 0, "this file has no effect."),
    ("variations/12", 0, "the name of a variation must be 1 to 9."),
    ("variations/2/variation.json", 0, "the file must contain a ranking"),
]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


def faults_of(own: Path, folder: Path) -> tuple[Fault, ...]:
    with pytest.raises(TemplateError) as raised:
        build_and_try(SOURCE, folder / "built", overlay=own)
    return raised.value.faults


def test_all_faults_of_all_files_are_reported_at_once(own: Path, tmp_path: Path) -> None:
    for name, text in FILES.items():
        write(own / name, text)
    faults = faults_of(own, tmp_path)
    places = [(str(Path(each.file).relative_to(own)), each.line) for each in faults]
    assert places == [(file, line) for file, line, _ in FAULTS], "\n".join(map(str, faults))
    for fault, (_, _, text) in zip(faults, FAULTS, strict=True):
        assert fault.text.startswith(text)
    assert [str(each) for each in faults] == str(TemplateError(*reversed(faults))).splitlines()


def test_faults_of_all_catalogues_are_reported_at_once(own: Path, tmp_path: Path) -> None:
    entry = 'msgid "Pause"\nmsgstr "Pause"\n\n'
    write(own / "locales/de/LC_MESSAGES/messages.po", entry + 'msgid "Pausse"\nmsgstr "Pause"\n')
    write(own / "locales/he/LC_MESSAGES/messages.po", entry + 'bad "x"\n')
    write(own / "locales/xx_YY/LC_MESSAGES/messages.po", entry)
    faults = [
        (Path(each.file).relative_to(own / "locales").parts[0], each.line, each.text)
        for each in faults_of(own, tmp_path)
    ]
    assert [(tag, line) for tag, line, _ in faults] == [("de", 4), ("he", 4), ("xx_YY", 0)]
    assert faults[0][2].startswith("no template contains the text 'Pausse'")


def test_file_in_the_working_directory_has_a_relative_path(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(own / "digest" / "block.html", "\n" * 11 + "{{ block.colour }}")
    monkeypatch.chdir(tmp_path)
    (fault,) = faults_of(own, tmp_path)
    assert str(fault).startswith("own/digest/block.html:12: an email cannot be rendered")


def test_template_with_a_fault_hides_no_fault_of_another_template(
    own: Path, tmp_path: Path
) -> None:
    """Emails are rendered with Gazette's file instead, so that no other fault follows from it."""
    write(own / "digest" / "body.html", "{{ links.unsubscribe }}\n{% endif %}")
    write(own / "digest" / "block.txt", "{{ block.url }}\n{{ block.colour }}")
    lines = [(Path(each.file).name, each.line) for each in faults_of(own, tmp_path)]
    assert lines == [("block.txt", 2), ("body.html", 2)]


def test_line_of_a_rendering_error_is_that_of_the_source(own: Path, tmp_path: Path) -> None:
    """Inlining CSS moves the lines of a template."""
    write(own / "parts" / "more.html", "<p\n\n class='more'\n>\n{{ digest.colour }}</p>")
    (fault,) = faults_of(own, tmp_path)
    assert (fault.file, fault.line) == (str(own / "parts" / "more.html"), 5)


def test_tag_that_inlining_misplaces_has_the_line_of_the_source(own: Path, tmp_path: Path) -> None:
    write(
        own / "parts" / "layout.html",
        "<!DOCTYPE html>\n<html><head>\n"
        '<link rel="stylesheet" href="email.css">\n<title>{% if 1 %}x{% endif %}</title>'
        "</head><body></body></html>",
    )
    with pytest.raises(TemplateError) as raised:
        build_templates(SOURCE, tmp_path / "built", overlay=own)
    lines = {(each.line, each.text.partition("%}")[0]) for each in raised.value.faults}
    assert (4, "{% if 1 ") in lines


@pytest.mark.parametrize(
    ("css", "line"),
    [
        ("a { }\n/* } */\nb { {{ brand.accent }} }\n}", 4),
        ("a { }\nb {\nc { }", 2),
        ("}\n{", 1),
    ],
)
def test_unmatched_brace_has_its_line(own: Path, tmp_path: Path, css: str, line: int) -> None:
    write(own / "email.css", css)
    (fault,) = faults_of(own, tmp_path)
    assert (fault.file, fault.line) == (str(own / "email.css"), line)
    assert fault.text.startswith("this brace has no counterpart")


def test_lines_of_json_keys() -> None:
    text = '{\n"a": {"b": [1, {"c": "}"}]},\n\n"d\\u0022": 2,\n"e":\n[[{"f": {}}]]}'
    assert json.loads(text)
    lines = lines_in(text)
    assert lines == {
        ("a",): 2,
        ("a", "b"): 2,
        ("a", "b", 1, "c"): 2,
        ('d"',): 4,
        ("e",): 5,
        ("e", 0, 0, "f"): 6,
    }
    assert line_at(lines, ("a", "b", 0)) == 2
    assert line_at(lines, ("missing",)) == 1
