"""The answers to questions, and the documentation of the widget."""

from collections.abc import Iterable, Sequence

from gazette.adapters.console.markup import (
    Html,
    element,
    joined,
    paragraph,
    table,
    without_addresses,
)
from gazette.adapters.console.style import page
from gazette.adapters.console.values import Section

DOCUMENTATION = """## Gazette support
Shows the queues of a stage that must be empty, their messages, and the effect of a redrive. It also
explains a reader, an event and a run.

The widget has no parameters. A refresh never redrives a message.
"""
"""The documentation that the console requests with `describe`.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/add_custom_widget_dashboard_create.html
"""


def answer_page(
    title: str,
    sentences: Iterable[str],
    sections: Sequence[Section],
    *,
    user: str,
    theme: str,
    redrives: Sequence[Html] = (),
) -> Html:
    """Return an answer. It never shows an email address, except a user id that looks like one.

    `redrives` are the buttons for dead letters.
    """

    def clean(content: str) -> str:
        return without_addresses(content, keep=user)

    parts = [paragraph(clean(each)) for each in sentences]
    parts += [element("div", *redrives)] if redrives else []
    for section in sections:
        rows = [[clean(cell) for cell in row] for row in section.rows]
        if rows:
            parts.append(table(section.caption, section.columns, rows))
        elif section.nothing:
            parts.append(paragraph(section.nothing))
    return page(element("h2", title), joined(*parts), theme=theme)


def problem_page(sentence: str, *, theme: str, back: Html | None = None) -> Html:
    """Return a page with one sentence, which states the problem and the remedy."""
    return page(element("p", sentence, role="alert"), back or Html(), theme=theme)
