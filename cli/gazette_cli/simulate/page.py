"""The HTML page of a simulation, with figures, tables and inline SVG plots."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from gazette.domain.scheduling.instants import moment

from gazette_cli.shared.pages.look import Tile, page_templates
from gazette_cli.simulate.answer import ceiling_rows, conclusion, figures, queue_rows
from gazette_cli.simulate.forecast import Forecast
from gazette_cli.simulate.outcome import Outcome
from gazette_cli.simulate.plots import BOTTOM, HEIGHT, LEFT, WIDTH, Plot, plot

_MINUTE = 60
_A_SLOT = 10
"""The length of a slot, in minutes."""


def page(result: Outcome, *, made_at: datetime) -> str:
    """Return the page as HTML. It has no external resources and no scripts."""
    templates = page_templates(Path(__file__).parent)
    return templates.get_template("page.html").render(
        title=f"Forecast for {result.readers:,} readers",
        made_at=moment(made_at),
        conclusion=conclusion(result),
        tiles=[Tile(*each) for each in figures(result)],
        plots=[*plots(result.forecast)],
        tables=[
            ("Limits", ceiling_rows(result)),
            ("Queues", queue_rows(result)),
        ],
        size={"width": WIDTH, "height": HEIGHT, "left": LEFT, "bottom": HEIGHT - BOTTOM + 8},
    )


def plots(forecast: Forecast) -> Iterator[Plot]:
    """Yield the plots of emails, queues and the service over time."""
    depths = forecast.depths.by_minute
    minutes = max((len(line) for line in depths.values()), default=1)
    due = _due_a_minute(forecast)
    sent = forecast.tally.by_minute
    digests = {"digests due": _over(due, minutes)}
    emails = {
        "digests sent": _over(sent["digest"], minutes),
        "immediate emails sent": _over(sent["immediate"], minutes),
    }
    most = max(max(line, default=0) for line in (*digests.values(), *emails.values()))
    yield plot("Digests due", "digests per minute", digests, minutes=minutes, most=most)
    yield plot("Emails sent", "emails per minute", emails, minutes=minutes, most=most)
    yield plot(
        "Waiting messages",
        "messages in each queue",
        {name: line for name, line in depths.items() if any(line)},
        minutes=minutes,
    )
    if forecast.service:
        service = forecast.service
        each = service.plan.each * _MINUTE
        requests = [service.requests[at] / _MINUTE for at in range(minutes)]
        capacity = [service.by_minute.get(at, 0) * each / _MINUTE for at in range(minutes)]
        yield plot(
            "Service",
            "requests per second",
            {"requests": requests, "capacity": capacity},
            minutes=minutes,
        )


def _due_a_minute(forecast: Forecast) -> dict[int, float]:
    """Return the number of due digests per minute. The digests of a slot are distributed over the
    ten minutes of the slot.
    """
    due: defaultdict[int, float] = defaultdict(float)
    for at, number in forecast.due.items():
        for minute in range(_A_SLOT):
            due[int(at // _MINUTE) + minute] += number / _A_SLOT
    return due


def _over(counted: Mapping[int, float], minutes: int) -> list[float]:
    return [float(counted.get(minute, 0)) for minute in range(minutes)]
