"""The self-contained HTML page of a run, with the table of goals and a plot for each goal."""

from collections.abc import Mapping, Sequence
from html import escape

from benchmarks.bench.goals import Result, Verdict, number
from benchmarks.bench.history import History, Measurement
from benchmarks.bench.past_plots import plot_of_runs
from benchmarks.bench.plots import plot

_KINDS = {Verdict.MET: "met", Verdict.NOT_RUN: "left-out"}

NO_HISTORY = History()

_PACKAGES = 15
"""The number of packages shown per profile. bench.json contains all packages."""

_STYLE = """
:root { color-scheme: light dark; --text: #111827; --ground: #ffffff; --line: #d1d5db;
  --ours: #1d4ed8; --peer: #6b7280; --goal: #b45309; --met: #166534; --missed: #b91c1c; }
@media (prefers-color-scheme: dark) { :root { --text: #f3f4f6; --ground: #111827; --line: #4b5563;
  --ours: #93c5fd; --peer: #9ca3af; --goal: #fbbf24; --met: #86efac; --missed: #fca5a5; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--ground);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: start; font-weight: bold; padding-bottom: .5rem; }
th, td { text-align: start; vertical-align: top; padding: .3rem .6rem;
  border-bottom: 1px solid var(--line); }
td.number { text-align: end; white-space: nowrap; font-variant-numeric: tabular-nums; }
.met { color: var(--met); font-weight: bold; } .missed { color: var(--missed); font-weight: bold; }
svg { width: 100%; height: auto; max-width: 44rem; font: 13px system-ui, sans-serif;
  fill: var(--text); }
.ours { fill: var(--ours); } .peer { fill: var(--peer); } .goal-name { fill: var(--goal); }
.goal { stroke: var(--goal); stroke-width: 2; stroke-dasharray: 5 3; }
.noise { stroke: var(--text); stroke-width: 2; fill: none; }
.axis { stroke: var(--line); fill: none; }
"""


def page(
    results: Sequence[Result],
    about: Mapping[str, str],
    summary: str,
    earlier: History = NO_HISTORY,
) -> str:
    """Return the page as HTML. `about` describes the run; `summary` is its last line."""
    sections = "".join(_section(result, earlier.of(result.goal.name)) for result in results)
    notes = "".join(f"<p>{escape(note)}</p>\n" for note in earlier.notes)
    facts = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in about.items()
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gazette: goals of speed and cost</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>Goals of speed and cost</h1>
<p>{escape(summary)}</p>
<p>A figure is the median of its rounds, in which all peers take turns. Half of the rounds lie
between the quartiles, which show the noise of this run. A goal is missed by more than noise if
its better quartile misses it too. A figure of one run has an unknown noise, and a computed figure
has none. In a plot, the dashed line is the goal, and the line over our bar or over a dot joins the
quartiles. Each dot is a run on this machine; the coloured dot is this run.</p>
{notes}<div class="wide" tabindex="0" role="region" aria-label="Table of goals">
<table>
<caption>Every goal</caption>
<thead><tr><th scope="col">goal</th><th scope="col">wanted</th><th scope="col">figure</th>
<th scope="col">noise</th><th scope="col">peers</th><th scope="col">verdict</th></tr></thead>
<tbody>
{"".join(map(_row, results))}</tbody>
</table>
</div>
{sections}
<h2>How it was measured</h2>
<dl>{facts}</dl>
</main>
</body>
</html>
"""


def _row(result: Result) -> str:
    goal, measured = result.goal, result.measured
    kind = _KINDS.get(result.verdict, "missed")
    cells = ["", "", result.why]
    if measured:
        peers = (f"{name} {number(value)}" for name, value in measured.peers.items())
        cells = [number(measured.figure), measured.noise_text, "; ".join(peers)]
    figure, noise, others = map(escape, cells)
    return (
        f'<tr><th scope="row">{escape(goal.says)}</th><td>{escape(goal.wanted)}</td>'
        f'<td class="number">{figure}</td><td>{noise}</td><td>{others}</td>'
        f'<td class="{kind}">{result.verdict}</td></tr>\n'
    )


def _section(result: Result, earlier: Sequence[Measurement]) -> str:
    measured = result.measured
    if measured is None and not earlier:
        return ""
    parts = [f"<h2>{escape(result.goal.says)}</h2>"]
    if measured is None:
        parts.append(f"<p>{result.verdict}: {escape(result.why)}</p>")
    else:
        parts += [
            f"<p>{escape(measured.how)}</p>" if measured.how else "",
            f"<p>Noise: {escape(measured.noise_text)}</p>",
            plot(result),
        ]
    if earlier:
        parts += [plot_of_runs(result, earlier), _table_of_runs(earlier)]
    return "\n".join((*parts, _profile(measured.profile if measured else {}), ""))


def _table_of_runs(earlier: Sequence[Measurement]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{each.at:%Y-%m-%d %H:%M}</th><td>{escape(each.commit)}</td>'
        f'<td class="number">{number(each.measured.figure)}</td>'
        f"<td>{escape(each.measured.noise_text)}</td>"
        f"<td>{each.verdict}</td></tr>\n"
        for each in earlier
    )
    heads = "".join(
        f'<th scope="col">{name}</th>' for name in ("run", "commit", "figure", "noise", "verdict")
    )
    return (
        "<details><summary>Earlier runs</summary><table>"
        "<caption>Earlier runs on this machine</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></details>"
    )


def _profile(seconds: Mapping[str, float]) -> str:
    """Return the packages that use most of the CPU."""
    if not seconds:
        return ""
    total = sum(seconds.values())
    rows = "".join(
        f'<tr><th scope="row">{escape(package)}</th><td class="number">{each / total:.0%}</td></tr>'
        for package, each in list(seconds.items())[:_PACKAGES]
    )
    return (
        "<details><summary>Where the CPU goes</summary><table>"
        "<caption>Of all CPU, by package, under a profiler that makes each call dearer</caption>"
        '<thead><tr><th scope="col">package</th><th scope="col">share</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></details>"
    )
