"""HTML that a custom widget may contain: tables, forms and buttons. Every text is escaped.

CloudWatch removes JavaScript, `iframe` and `use` from the HTML of a widget.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/add_custom_widget_dashboard_about.html
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from unicodedata import category

_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories of control and format characters, surrogates, and line separators."""

_ADDRESS = re.compile(r"[^\s<>\"'(),;:]+@[^\s<>\"'(),;:]+\.[A-Za-z]{2,}")


class Html(str):
    """HTML that is already escaped."""

    __slots__ = ()


Cell = str | Html
"""The content of a table cell. A text that is not Html is escaped."""


def text(content: str) -> Html:
    """Return a text as HTML, with `?` for each control or invisible character."""
    if isinstance(content, Html):
        return content
    seen = "".join("?" if category(each) in _UNSEEN else each for each in content)
    return Html(escape(seen, quote=True))


def without_addresses(content: str, *, keep: str = "") -> str:
    """Replace email addresses in a text. `keep` is a user id, which may look like an address."""
    return _ADDRESS.sub(
        lambda match: match[0] if keep and keep in match[0] else "(address)", content
    )


def joined(*parts: str) -> Html:
    """Join HTML and texts, which are escaped."""
    return Html("".join(map(text, parts)))


def element(tag: str, *parts: str, **attributes: str) -> Html:
    """Return an element with this content. An underscore at the end of a name is removed."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{text(value)}"'
        for name, value in attributes.items()
    )
    return Html(f"<{tag}{written}>{joined(*parts)}</{tag}>")


def paragraph(*parts: str, class_: str = "") -> Html:
    """Return a paragraph."""
    return element("p", *parts, **({"class_": class_} if class_ else {}))


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Html:
    """Return a table with a caption and column headings. The first cell of a row is its heading.

    In a narrow widget, the table scrolls sideways, with the keyboard too.
    """
    head = joined(*(element("th", column, scope="col") for column in columns))
    body = joined(*map(_row, rows))
    whole = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", head)),
        element("tbody", body),
    )
    return element("div", whole, class_="gz-scroll", tabindex="0", role="group", aria_label=caption)


def _row(cells: Sequence[Cell]) -> Html:
    first, *others = cells
    return element(
        "tr", element("th", first, scope="row"), *(element("td", each) for each in others)
    )


def field(
    name: str, label: str, *, example: str, value: str = "", pressed: Html | None = None
) -> Html:
    """Return a text field with its label, an example, and the button that uses it, if any."""
    initial = f' value="{text(value)}"' if value else ""
    box = Html(
        f'<input type="text" id="gz-{name}" name="{name}" autocomplete="off" '
        f'aria-describedby="gz-{name}-example"{initial}>'
    )
    hint = element("span", f"for example {example}", class_="gz-hint", id=f"gz-{name}-example")
    content = joined(element("label", label, for_=f"gz-{name}"), box, pressed or Html(), hint)
    return element("div", content, class_="gz-field")


def form(*parts: str, label: str) -> Html:
    """Return a form. A form needs two fields, because Enter in an only field would submit it.

    https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#implicit-submission
    """
    return element("form", *parts, aria_label=label)


def button(
    label: str,
    *,
    endpoint: str,
    parameters: Mapping[str, str],
    confirmation: str = "",
    in_popup: bool = False,
    is_primary: bool = False,
    about: str = "",
) -> Html:
    """Return a button that calls a function. `about` completes the label for screen readers.

    A `cwdb-action` applies to the element immediately before it. Its JSON has no characters of
    markup, so it is the same text whether or not the console decodes entities. A `button` can be
    pressed with the keyboard, unlike a link without an address.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/add_custom_widget_dashboard_interactivity.html
    """
    style = "btn btn-primary gz-button gz-primary" if is_primary else "btn gz-button"
    hidden = [element("span", f" {about}", class_="gz-hidden")] if about else []
    pressed = element("button", label, *hidden, type="button", class_=style)
    content = json.dumps(dict(parameters))
    for mark in "<>&":
        content = content.replace(mark, f"\\u{ord(mark):04x}")
    asks = f' confirmation="{text(confirmation)}"' if confirmation else ""
    place = "popup" if in_popup else "widget"
    return Html(
        f'{pressed}<cwdb-action action="call" endpoint="{text(endpoint)}" display="{place}"'
        f"{asks}>{content}</cwdb-action>"
    )
