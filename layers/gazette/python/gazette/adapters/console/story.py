"""The page that tells the story of a stage, on top of its dashboard."""

from gazette.adapters.console.buttons import Buttons
from gazette.adapters.console.markup import (
    Html,
    element,
    joined,
    paragraph,
    without_addresses,
)
from gazette.adapters.console.style import Tone, heading, page
from gazette.domain.console.levels import Line
from gazette.domain.console.story import Part, Story, verdict
from gazette.domain.scheduling.instants import moment

VIEW = "story"
"""The parameter `view` of the widget that shows this page."""


def story_page(story: Story, buttons: Buttons, *, theme: str) -> Html:
    """Return the page of a story. Its first line is the verdict."""
    tone = Tone.of(story.worst) if story.is_complete else Tone.BAD
    return page(
        heading(without_addresses(verdict(story)), tone=tone),
        element("div", *map(_part, story.parts), class_="gz-parts"),
        paragraph(f"Stage {story.stage}, at {moment(story.at)}.", class_="gz-hint"),
        buttons.queues(),
        theme=theme,
    )


def _part(part: Part) -> Html:
    unread = [element("p", sentence, role="alert") for sentence in part.unread]
    worst_first = sorted(part.lines, key=lambda line: line.level.rank)
    lines = [element("ul", *map(_line, worst_first))] if worst_first else []
    return element("section", element("h3", part.title), *unread, *lines, _sentences(part))


def _sentences(part: Part) -> Html:
    return joined(*map(paragraph, part.sentences))


def _line(line: Line) -> Html:
    text = f" {line.area}: {without_addresses(line.text)}. "
    command = element("code", line.command) if line.command else Html()
    return element("li", element("strong", f"{line.level.value.capitalize()}:"), text, command)
