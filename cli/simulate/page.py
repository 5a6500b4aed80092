"""A forecast as one page that needs nothing else: figures, tables, and plots as SVG within it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cli.shared.answers import moment
from cli.simulate.answer import ceiling_rows, figures, queue_rows, sentences
from cli.simulate.forecast import Forecast
from cli.simulate.outcome import Outcome
from cli.simulate.plots import BOTTOM, HEIGHT, LEFT, WIDTH, Plot, plot

_MINUTE = 60
_A_SLOT = 10
"""Minutes."""


def page(told: Outcome, *, made_at: datetime) -> str:
    """The page as HTML. It loads nothing and runs nothing, and its own policy forbids both."""
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return templates.get_template("page.html").render(
        title=f"Forecast for {told.readers:,} readers",
        made_at=moment(made_at),
        sentences=sentences(told),
        figures=figures(told),
        plots=[*plots(told.found)],
        tables=[
            ("What breaks first", ceiling_rows(told)),
            ("What the queues do", queue_rows(told)),
        ],
        size={"width": WIDTH, "height": HEIGHT, "left": LEFT, "bottom": HEIGHT - BOTTOM + 8},
    )


def plots(found: Forecast) -> Iterator[Plot]:
    """Over the days, and what was left of them: emails, queues, and the service behind."""
    depths = found.depths.by_minute
    minutes = max((len(line) for line in depths.values()), default=1)
    due = _due_a_minute(found)
    sent = found.tally.by_minute
    yield plot(
        "Emails",
        "a minute",
        {
            "digests due": _over(due, minutes),
            "digests sent": _over(sent["digest"], minutes),
            "immediate emails sent": _over(sent["immediate"], minutes),
        },
        minutes=minutes,
    )
    yield plot(
        "Messages that wait",
        "by queue",
        {name: line for name, line in depths.items() if any(line)},
        minutes=minutes,
    )
    if found.service:
        service = found.service
        each = service.plan.each * _MINUTE
        asked = [service.requests[at] / _MINUTE for at in range(minutes)]
        can = [service.by_minute.get(at, 0) * each / _MINUTE for at in range(minutes)]
        yield plot(
            "The service behind",
            "requests a second",
            {"asked": asked, "can be answered": can},
            minutes=minutes,
        )


def _due_a_minute(found: Forecast) -> dict[int, float]:
    """What is due in a slot, spread over its ten minutes."""
    due: defaultdict[int, float] = defaultdict(float)
    for at, number in found.due.items():
        for minute in range(_A_SLOT):
            due[int(at // _MINUTE) + minute] += number / _A_SLOT
    return due


def _over(counted: Mapping[int, float], minutes: int) -> list[float]:
    return [float(counted.get(minute, 0)) for minute in range(minutes)]
