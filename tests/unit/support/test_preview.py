"""`gazette preview`: an email as it will look, in files that a browser shows."""

import json
import shutil
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from gazette.domain.model import DAILY, Edition
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.support.pending import Waiting
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from gazette_cli.preview import command, content, folder
from gazette_cli.preview.content import Kind
from gazette_cli.preview.inbox_row import after_subject
from gazette_cli.preview.programs import as_in_word, without_images
from gazette_cli.preview.rendering import render
from gazette_cli.preview.sample import READER
from gazette_cli.shared.console import NotPossible
from gazette_cli.templates import building
from gazette_cli.templates.building import Templates, templates_of
from tests.builders import a_subscriber, an_event
from tests.conftest import ROOT
from tests.unit.support.test_cli_event import EVENT, PROFILE, entry

TEMPLATES = ROOT / "templates"
FILES = {
    "index.html",
    "email.html",
    "email.txt",
    "light.html",
    "dark.html",
    "no-images.html",
    "outlook.html",
}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser was opened with."""
    addresses: list[str] = []

    def browse(url: str) -> bool:
        addresses.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", browse)
    return addresses


def run(to: Path, *arguments: str, given: object = None) -> Result:
    """`gazette preview …` into `to`; `given` on standard input."""
    return CliRunner().invoke(
        app,
        ["preview", *arguments, "--to", str(to)],
        input=None if given is None else json.dumps(given),
    )


def shown(to: Path) -> str:
    """The page's own words."""
    page = lxml.html.document_fromstring((to / "index.html").read_bytes())
    return str(page.text_content())


def _without_isolates(text: str) -> str:
    """A terminal gets a question mark for each."""
    return text.replace("\u2068", "").replace("\u2069", "")


@pytest.mark.parametrize("kind", ["digest", "immediate"])
def test_sample_is_shown_in_every_mode(tmp_path: Path, opened: list[str], kind: str) -> None:
    result = run(tmp_path, kind)
    assert (result.exit_code, result.stderr) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} == FILES
    subject, size, page = (line.split(": ", 1)[1] for line in result.stdout.splitlines())
    assert page == str(tmp_path / "index.html")
    assert opened == [(tmp_path / "index.html").as_uri()]
    assert subject.replace("?", "") in _without_isolates(shown(tmp_path))
    assert size in shown(tmp_path)
    assert f"HTML {(tmp_path / 'email.html').stat().st_size:,} bytes" in size
    assert f"text {(tmp_path / 'email.txt').stat().st_size:,} bytes" in size
    assert (tmp_path / "email.txt").read_text() in shown(tmp_path)
    frames = lxml.html.document_fromstring((tmp_path / "index.html").read_bytes()).xpath("//iframe")
    assert {(frame.get("src"), frame.get("width")) for frame in frames} == {
        ("outlook.html", "620"),
        *(
            (file, width)
            for file in ("light.html", "dark.html", "no-images.html")
            for width in ("620", "360")
        ),
    }


def test_sample_digest_contains_difficult_content() -> None:
    letter = content.sample(Kind.DIGEST)
    titles = [event.entity.title for event in letter.events]
    assert letter.schedule == DAILY
    assert max(map(len, titles)) > 120
    assert max(len(word) for title in titles for word in title.split()) > 60
    actors = [event.actor for event in letter.events if event.actor]
    assert any("\u0590" <= actor.name[0] <= "\u05ff" for actor in actors)
    assert len({actor.id for actor in actors}) > 20
    assert len({event.entity.key for event in letter.events}) > 5


def test_immediate_sample_is_about_a_single_entity() -> None:
    letter = content.sample(Kind.IMMEDIATE)
    assert kind_of(letter.schedule) is ScheduleKind.IMMEDIATE
    assert len({event.entity.key for event in letter.events}) == 1


def test_no_browser_opens_unless_requested(tmp_path: Path, opened: list[str]) -> None:
    assert run(tmp_path, "--no-open").exit_code == 0
    assert opened == []


def test_page_path_is_printed_if_no_browser_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    result = run(tmp_path)
    assert result.exit_code == 0
    assert "Open the page yourself" in result.stderr


def test_events_from_a_file_are_shown_for_their_reader(tmp_path: Path) -> None:
    given = [
        entry({**EVENT, "entity": {**EVENT["entity"], "title": "Mine & <yours>"}}),
        entry({**PROFILE, "name": "Anneliese"}, "subscriber.changed"),
        entry({**EVENT, "id": "e2", "user_id": "bo", "excerpt": "For Bo alone"}),
        entry({}),
    ]
    assert run(tmp_path, "--file", "-", "--no-open", given=given).exit_code == 0
    html = (tmp_path / "email.html").read_text()
    assert "Mine &amp; &lt;yours&gt;" in html
    assert "Anneliese" in html
    assert "For Bo alone" not in html


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([entry(PROFILE, "subscriber.changed")], "No event to show in 1 entry. Add"),
        (
            [entry({}), entry(PROFILE, "subscriber.changed")],
            "1 entry is invalid. To see the problems, run `gazette event lint`",
        ),
    ],
)
def test_file_without_events_is_rejected(tmp_path: Path, given: object, said: str) -> None:
    result = run(tmp_path, "--file", "-", "--no-open", given=given)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not list(tmp_path.iterdir())


def test_file_and_user_options_are_mutually_exclusive(tmp_path: Path) -> None:
    result = run(tmp_path, "--file", "-", "--user", "ann", given=[])
    assert result.exit_code == 2
    assert "cannot be used together" in result.stderr


def test_unwritable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    result = run(tmp_path / "taken", "--no-open")
    assert result.exit_code == 2
    assert "Specify a different folder with --to" in result.stderr


# Templates with mistakes.


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    """A copy to make mistakes in."""
    return Path(shutil.copytree(TEMPLATES, tmp_path / "templates"))


def mistake(templates: Path, name: str, wrong: str) -> int:
    """Put `wrong` on a line of its own, in HTML where text may be; returns its number."""
    lines = (templates / name).read_text().splitlines(keepends=True)
    at = next((n for n, line in enumerate(lines, 1) if "<body" in line or "<td" in line), 1)
    lines.insert(at, wrong + "\n")
    (templates / name).write_text("".join(lines))
    return at + 1


def refusal(templates: Path, overlay: Path | None = None) -> str:
    with pytest.raises(NotPossible) as refused:
        render(content.sample(Kind.DIGEST), Templates(templates, overlay))
    return str(refused.value)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("<p>{{ nonsense }}</p>", "'nonsense' is undefined"),
        ("<p>{{ brand.nonsense }}</p>", "nonsense"),
        ("<p>{{ 1 / 0 }}</p>", "division by zero"),
        ("{% include 'nowhere.html' %}", "nowhere.html"),
    ],
)
@pytest.mark.parametrize("name", ["parts/layout.html", "digest/block.html", "digest/body.txt"])
def test_template_error_is_reported_with_file_and_line(
    templates: Path, name: str, wrong: str, said: str
) -> None:
    line = mistake(templates, name, wrong)
    told = refusal(templates)
    assert told.startswith(f"{templates / name}:{line}: ")
    assert said in told


def test_unclosed_tag_is_reported_with_file_and_line(templates: Path) -> None:
    line = mistake(templates, "digest/block.html", "{% if brand %}{{ brand.name }")
    told = refusal(templates)
    assert f"{templates / 'digest/block.html'}:{line}: " in told


def test_error_in_a_custom_template_names_the_custom_file(tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "digest").mkdir(parents=True)
    (own / "digest" / "body.txt").write_text("Hello\n{{ nonsense }}\n")
    told = refusal(TEMPLATES, own)
    assert told.startswith(f"{own / 'digest/body.txt'}:2: 'nonsense' is undefined")


def test_preview_error_is_a_single_line(
    tmp_path: Path, templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake(templates, "digest/body.txt", "{{ nonsense }}")
    shutil.copy(ROOT / "cdk.json", templates.parent)
    monkeypatch.chdir(templates.parent)
    monkeypatch.setattr(building, "SOURCE", templates)
    result = run(tmp_path / "to", "--no-open")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "Traceback" not in result.output
    assert not (tmp_path / "to").exists()


# What is in the files.


def test_light_and_dark_colours_are_forced() -> None:
    html = (
        '<meta name="color-scheme" content="light dark">'
        "@media (prefers-color-scheme: dark) {a}@media (prefers-color-scheme:light) {b}"
    )
    assert folder.forced(html, "dark") == (
        '<meta name="color-scheme" content="dark">@media all {a}@media not all {b}'
    )
    assert folder.forced(html, "light") == (
        '<meta name="color-scheme" content="light">@media not all {a}@media all {b}'
    )


def test_forced_colour_modes_ignore_the_browser_setting(tmp_path: Path) -> None:
    assert run(tmp_path, "--no-open").exit_code == 0
    assert "prefers-color-scheme" in (tmp_path / "email.html").read_text()
    for name in ("light.html", "dark.html"):
        assert "prefers-color-scheme" not in (tmp_path / name).read_text()


def test_blocked_images_are_not_loaded() -> None:
    """A policy in the page, because an image may also be a background in a style sheet."""
    html = without_images('<html><head lang="en"><title>A</title></head><body></body></html>')
    (policy,) = lxml.html.document_fromstring(html).xpath("/html/head/meta/@content")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"
    assert html.index("<meta") < html.index("<title>")


@pytest.mark.parametrize(
    ("tag", "style", "applied"),
    [
        (
            "td",
            "padding: 4px 8px; border-radius: 8px; color: #111",
            "padding: 4px 8px; color: #111",
        ),
        ("p", "padding: 4px; margin: 0 auto; margin-top: 8px", "margin-top: 8px"),
        ("a", "padding: 4px; margin: 4px; color: red", "color: red"),
        ("div", "display: none; max-height: 0; overflow: hidden", "display: none"),
        ("span", "display: block; font-size: 15px", "font-size: 15px"),
        (
            "td",
            "background: url('a;b.png'); border-left: 3px solid #ccc",
            "border-left: 3px solid #ccc",
        ),
        ("td", "font-family: 'A; B', serif; position: absolute", "font-family: 'A; B', serif"),
        ("h1", "opacity: 0.5", None),
    ],
)
def test_outlook_frame_has_only_the_css_that_word_applies(
    tag: str, style: str, applied: str | None
) -> None:
    inside = f'<{tag} id="it" style="{style}">A</{tag}>'
    html = as_in_word(
        f"<table><tr>{inside}</tr></table>" if tag == "td" else f"<div>{inside}</div>"
    )
    assert lxml.html.document_fromstring(html).get_element_by_id("it").get("style") == applied


def test_outlook_frame_shows_the_parts_for_outlook_and_no_style_sheets() -> None:
    html = as_in_word(
        "<html><head><style>p { color: red }</style>"
        "<!--[if mso]><xml><o:A>96</o:A></xml><![endif]--></head><body>"
        "<!--[if mso]><table width='600'><tr><td><![endif]--><p>Hello</p>"
        "<!--[if mso]></td></tr></table><![endif]-->"
        "<!--[if !mso]><!--><p>Others</p><!--<![endif]--></body></html>"
    )
    page = lxml.html.document_fromstring(html)
    assert page.xpath("//table[@width='600']//p/text()") == ["Hello"]
    assert not page.xpath("//style|//xml|//comment()")
    assert "Others" not in html
    assert "96" not in html


def test_sample_in_the_outlook_frame_keeps_its_text_and_width() -> None:
    edition = render(content.sample(Kind.DIGEST), Templates(TEMPLATES))
    before, after = (
        lxml.html.document_fromstring(each) for each in (edition.html, as_in_word(edition.html))
    )
    assert after.xpath("//table[@width='600']")
    assert after.xpath("//h2/a/@href") == before.xpath("//h2/a/@href") != []
    assert "border-radius" not in lxml.html.tostring(after, encoding="unicode")


def test_preview_page_uses_the_direction_of_most_letters(tmp_path: Path) -> None:
    page = lxml.html.document_fromstring(
        folder.write(
            Edition("@ann תודה רבה על העזרה", '<html dir="ltr"><body>', "text"),
            tmp_path,
            sender="נועה",
        ).read_text()
    )
    assert page.xpath("//h1/@dir") == page.xpath("//p[@class='subject']/@dir") == ["rtl"]
    assert page.xpath("//p[b]/@dir") == ["rtl"]
    assert page.xpath("//pre/@dir") == ["ltr"]
    assert not page.xpath("//*[@dir='auto']")


def test_email_content_cannot_run_in_the_page(tmp_path: Path) -> None:
    evil = "</pre></title><script>alert(1)</script>"
    folder.write(Edition(evil, f"<p>{evil}", evil), tmp_path, sender=evil)
    page = (tmp_path / "index.html").read_text()
    assert "<script" not in page
    assert page.count("<iframe sandbox ") == 7


def test_inbox_row_shows_sender_subject_and_preview_text(tmp_path: Path) -> None:
    assert run(tmp_path, "--no-open").exit_code == 0
    page = lxml.html.document_fromstring((tmp_path / "index.html").read_text())
    (row,) = page.find_class("inbox")
    texts = [" ".join(each.text_content().split()) for each in row.iter("p")]
    assert texts[0] == "Gazette"
    assert texts[2] == page.findtext(".//title")
    assert texts[3]
    assert "Hi Ann" not in texts[3]


def test_inbox_row_shows_body_text_after_an_unpadded_preheader() -> None:
    padding = "\u034f\u2007" * 90
    body = "<body><div style='display:none'>Yes.{}</div><p>Hi Ann,</p></body>"
    assert after_subject(body.format(padding)) == "Yes."
    assert after_subject(body.format("")) == "Yes.Hi Ann,"


# What waits for a real reader.


def a_waiting(**by_schedule: Any) -> Waiting:
    return Waiting(a_subscriber(), by_schedule)


def test_preview_shows_the_waiting_digest() -> None:
    waiting = a_waiting(weekly=(an_event("e2"),), daily=(an_event("e1"),))
    letter = content.of_waiting(waiting, "ann", Kind.DIGEST)
    assert (letter.schedule, letter.events) == (DAILY, (an_event("e1"),))
    weekly = content.of_waiting(a_waiting(weekly=(an_event("e2"),)), "ann", Kind.DIGEST)
    assert weekly.schedule == Frequency.WEEKLY


def test_preview_without_waiting_events_is_reported() -> None:
    with pytest.raises(
        NotPossible,
        match=r"No event of ann is waiting for a digest\. .* run `gazette explain ann`",
    ):
        content.of_waiting(a_waiting(now5=(an_event(),)), "ann", Kind.DIGEST)
    with pytest.raises(NotPossible, match="No event of ann is waiting for an immediate email"):
        content.of_waiting(a_waiting(daily=(an_event(),)), "ann", Kind.IMMEDIATE)
    with pytest.raises(NotPossible, match="ann has no profile"):
        content.of_waiting(None, "ann", Kind.DIGEST)


def test_invalid_user_id_is_rejected_before_any_request(tmp_path: Path) -> None:
    result = run(tmp_path, "--user", "two words")
    assert result.exit_code == 2
    assert "is not a valid user id" in result.stderr


def test_sample_language_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[content.EmailContent] = []

    def remember(letter: content.EmailContent, templates: Templates, *, variation: int) -> Edition:
        seen.append(letter)
        return Edition("s", "h", "t")

    monkeypatch.setattr(command, "render", remember)
    assert run(tmp_path, "--locale", "he", "--no-open").stderr == ""
    assert seen[0].reader == replace(READER, locale="he")


def test_unsupported_template_language_is_reported(tmp_path: Path) -> None:
    assert run(tmp_path, "--locale", "de-AT", "--no-open").stderr == ""
    assert 'lang="de"' in (tmp_path / "email.html").read_text()
    result = run(tmp_path, "--locale", "tlh", "--no-open")
    assert result.exit_code == 0
    assert "not translated into 'tlh'. The preview is in English" in result.stderr
    assert 'lang="en"' in (tmp_path / "email.html").read_text()


def test_variation_overrides_only_its_own_texts(templates: Path) -> None:
    own = templates / "variations" / "2" / "digest"
    own.mkdir(parents=True)
    (own / "subject.txt").write_text("Good morning\n")
    letter = content.sample(Kind.DIGEST)
    first, second = (render(letter, Templates(templates), variation=each) for each in (1, 2))
    assert (first.subject == second.subject, first.text == second.text) == (False, True)
    assert second.subject == "Good morning"


def test_stage_may_have_custom_templates(
    tmp_path: Path, templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = templates.parent / "own" / "digest"
    own.mkdir(parents=True)
    (own / "subject.txt").write_text("Good morning\n")
    stages = {"prod": {"sender": "a@example.com", "list_id": "b.example", "templates": "own"}}
    (templates.parent / "cdk.json").write_text(json.dumps({"context": {"stages": stages}}))
    monkeypatch.chdir(templates.parent)
    assert "subject: Good morning" in run(tmp_path / "to", "--no-open").stdout
    result = run(tmp_path / "to", "--stage", "test", "--no-open")
    assert result.exit_code == 2
    assert "There is no stage 'test' in cdk.json" in result.stderr


def test_unknown_variation_is_rejected(tmp_path: Path) -> None:
    result = run(tmp_path, "--variation", "7", "--no-open")
    assert result.exit_code == 2
    assert "Variation 7 does not exist. To create it, add its files to" in result.stderr


def test_preview_uses_the_digest_arrangement_of_the_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the reader will get it: with the stage's weights, blocks and sections."""
    stages = json.loads((ROOT / "cdk.json").read_text())["context"]["stages"]
    stages["prod"] |= {
        "ranking": "latest",
        "category_weights": {"like": 7},
        "sections": "category",
        "full_blocks": 2,
        "max_blocks": 3,
    }
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"stages": stages}}))
    monkeypatch.chdir(tmp_path)
    made = templates_of("prod")
    assert (made.max_blocks, made.arrangement.full_blocks) == (3, 2)
    assert (made.arrangement.ranking, made.arrangement.sections) == ("latest", "category")
    assert (made.arrangement.weights["like"], made.arrangement.weights["mention"]) == (7, 10)


def test_sample_includes_images_and_avatars() -> None:
    made = render(content.sample(Kind.DIGEST), Templates(TEMPLATES))
    page = lxml.html.document_fromstring(made.html)
    assert page.xpath("//img[@alt='']/@src")[:1] == ["https://example.com/avatars/zoe.png"]
    assert page.xpath("//img[@alt!='']")
    assert page.xpath("//td[@aria-hidden and text()]")
    assert "\n  Build failed: “3 of 214 tests failed.”\n" in made.text
    assert "You follow this" in made.text
    assert "\n  Today, " in made.text
