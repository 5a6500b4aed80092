"""Every email is shown by the mail programs that tests/mail_clients/clients.json names."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from cssutils import parseString
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.model import Edition

from gazette_cdk.assets.templates import trial
from gazette_cdk.assets.templates.build import build_templates
from tests.mail_clients.features import uses
from tests.mail_clients.support import Problem, clients, problems, reasons, table

SOURCE = Path(__file__).parents[3] / "templates"
OF_EMAILS = ("digest", "immediate", "new-link", "parts")
SHOP = {
    "name": "Shop",
    "postal_address": "1 High Street",
    "logo": "https://shop.example/logo.png",
    "home": "https://shop.example/",
    "help": "https://shop.example/help",
}
BRANDS: tuple[dict[str, str], ...] = (
    {},
    SHOP,
    {**SHOP, "logo_dark": "https://shop.example/dark.png"},
)
KNOWN = table()
NAMES = frozenset(KNOWN)


@pytest.fixture(scope="module")
def emails(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The HTML of what synthesis tries out, with each kind of brand."""
    return [made.html for made in every_email(tmp_path_factory)]


def every_email(folders: pytest.TempPathFactory) -> Iterator[Edition]:
    for brand in BRANDS:
        own, built = folders.mktemp("own"), folders.mktemp("built")
        if brand:
            (own / "brand.json").write_text(json.dumps(brand))
        build_templates(SOURCE, built, overlay=own)
        made: list[Edition] = []

        class Recorder(JinjaRenderer):
            def render(self, *given: Any, made: list[Edition] = made, **options: Any) -> Edition:
                made.append(super().render(*given, **options))
                return made[-1]

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(trial, "JinjaRenderer", Recorder)
            trial.try_out(built)
        yield from made


@pytest.fixture(scope="module")
def found(emails: list[str]) -> set[Problem]:
    """All that some mail program does not show as it is meant."""
    return {each for used in {*map(all_of, emails)} for each in problems(used, KNOWN)}


def all_of(html: str) -> frozenset[Any]:
    return frozenset(uses(html, NAMES))


def unexcused(found: set[Problem]) -> list[str]:
    excuses = reasons()
    return sorted(str(each) for each in found if not any(why.holds(each) for why in excuses))


def test_mail_client_check_covers_every_email_part(emails: list[str]) -> None:
    written = {
        name
        for folder in OF_EMAILS
        for file in (SOURCE / folder).glob("*.html")
        for names in re.findall(r'class="([^"]+)"', file.read_text())
        for name in names.split()
    }
    seen = {
        name
        for html in emails
        for names in lxml.html.document_fromstring(html).xpath("//@class")
        for name in names.split()
    }
    assert written <= seen


def test_unsupported_mail_client_features_have_documented_reasons(found: set[Problem]) -> None:
    assert unexcused(found) == []


def test_every_documented_mail_client_exception_is_needed(found: set[Problem]) -> None:
    assert [why for why in reasons() if not any(map(why.holds, found))] == []
    assert all(why.why for why in reasons())
    assert len(clients()) == len(set(clients()))


@pytest.mark.parametrize(
    ("there", "instead", "said"),
    [
        ("<p ", '<p data-x="1" ', "untold data-x on <p>"),
        ("<h1 ", "<marquee>x</marquee><h1 ", "html-marquee on <marquee>"),
        ("<h1 ", "<blink>x</blink><h1 ", "untold <blink> on <blink>"),
        ("margin:0;", "margin:-4px;", "css-margin on <p> (-4px): partly in outlook.windows"),
        ("margin:0;", "padding:4px;", "css-padding on <h2> (4px): partly in outlook.windows"),
        ("margin:0;", "display:flex;", "css-display-flex on <h2> (flex): not in outlook.windows"),
        ("font-size:16px", "font-size:1rem", "css-unit-rem on <h2>"),
        ("font-weight:bold", "font-weight:650", "css-font-weight on <td> (650): partly"),
        ("margin:0;", "background:url(a.webp);", "image-webp on <h2>"),
        ("margin:0;", "width:calc(100% - 4px);", "css-unit-calc on <h2>"),
        ("margin:0;", "scroll-timeline:none;", "untold scroll-timeline: on <h2>"),
        ("</style>", ".a:hover { color: red }</style>", "css-pseudo-class-hover on <style>"),
        ("</style>", "p > a { color: red }</style>", "css-selector-child on <style>"),
        ("</style>", "[href] a { color: red }</style>", "css-selector-attribute on <style>"),
        ("</style>", "/* x */</style>", "css-comments on <style>"),
        ("</style>", "@font-face { font-family: A }</style>", "css-at-font-face on <style>"),
        ("(max-width: 480px)", "(max-height: 480px)", "css-at-media on <style>"),
        ("border-radius: 0 !important", "display: grid !important", "css-display-grid on <style>"),
    ],
)
def test_unsupported_feature_is_reported_with_its_client(
    emails: list[str], there: str, instead: str, said: str
) -> None:
    html = next(each for each in emails if there in each and "<h2" in each)
    changed = html.replace(there, instead)
    assert [each for each in unexcused({*problems(all_of(changed), KNOWN)}) if said in each]
    assert said not in "\n".join(unexcused({*problems(all_of(html), KNOWN)}))


def test_ignored_css_is_not_reported_for_the_client() -> None:
    page = "<style>@media (prefers-color-scheme: dark) {{ p {{ {} }} }}</style><p>x</p>"
    found = {*problems(all_of(page.format("letter-spacing: 1em; opacity: 0.5")), KNOWN)}
    faded = {each.client for each in found if each.use.feature == "css-opacity"}
    assert KNOWN["css-opacity"]["outlook.windows"] == "n"
    assert "outlook.windows" not in faded


def test_each_cell_with_text_sets_its_font(emails: list[str]) -> None:
    for html in emails:
        for cell in lxml.html.document_fromstring(html).iter("td"):
            assert "font-family:" in cell.get("style", ""), lxml.html.tostring(cell)[:200]


def test_quote_has_no_extra_blank_lines(emails: list[str]) -> None:
    kept = [
        element.text_content()
        for html in emails
        for element in lxml.html.document_fromstring(html).xpath("//*[contains(@style,'pre-line')]")
    ]
    assert kept
    assert [text for text in kept if text != text.strip()] == []


def test_meta_tags_disable_apple_autolinks_and_word_scaling(emails: list[str]) -> None:
    for html in emails:
        page = lxml.html.document_fromstring(html)
        (detected,) = page.xpath("//meta[@name='format-detection']/@content")
        assert {each.strip() for each in detected.split(",")} == {
            f"{what}=no" for what in ("telephone", "date", "address", "email", "url")
        }
        assert page.xpath("//meta[@name='x-apple-disable-message-reformatting']")
        word = " ".join(re.findall(r"<!--\[if mso\]>(.*?)<!\[endif\]-->", html))
        assert "<o:PixelsPerInch>96</o:PixelsPerInch>" in word
        assert "mso-line-height-rule: exactly" in word


def test_body_text_does_not_follow_the_preheader(emails: list[str]) -> None:
    for html in emails:
        (preheader,) = lxml.html.document_fromstring(html).xpath("//div[@class='preheader']")
        assert {"display:none", "mso-hide:all"} <= {
            each.strip() for each in preheader.get("style").split(";")
        }
        text = preheader.text_content()
        said = text.rstrip("\u034f\u2007 \n")
        assert said.strip()
        assert len(text) - len(said) >= 150


def test_outlook_dark_mode_uses_the_same_colours() -> None:
    dark, outlook = (parseString(css_of(name), validate=False) for name in ("email", "outlook"))
    (asked,) = (
        each
        for each in dark.cssRules
        if each.type == each.MEDIA_RULE and "dark" in each.media.mediaText
    )
    said = {
        (selector.removeprefix("[data-ogsc] ").removeprefix("[data-ogsb] "), name, value)
        for selector, name, value in declared(outlook.cssRules)
    }
    wanted = {each for each in declared(asked.cssRules) if "border" not in each[1]}
    assert said == {each for each in wanted if each[0] != "body"}


def css_of(name: str) -> str:
    css = (SOURCE / f"{name}.css").read_text()
    return re.sub(r"\{\{.*?\}\}", "red", re.sub(r"\{#.*?#\}", "", css))


def declared(rules: Any) -> Iterator[tuple[str, str, str]]:
    for rule in rules:
        for selector in rule.selectorList:
            for each in rule.style:
                yield selector.selectorText, each.name, each.value
