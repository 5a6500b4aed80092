"""The styles of the support page in the light and the dark theme of the console."""

from enum import StrEnum
from string import Template

from gazette.adapters.console.markup import Html, element, joined
from gazette.adapters.console.palette import PALETTE
from gazette.domain.console.levels import Level

_RULES = Template("""
.gz{background:$sheet;color:$text;font-size:14px;line-height:1.4;padding:8px}
.gz h2,.gz h3{color:inherit;margin:16px 0 4px}
.gz h2{font-size:20px;margin-top:0}
.gz h3{font-size:16px}
.gz p{color:inherit;margin:4px 0}
.gz .gz-hint{color:$quiet}
.gz .gz-scroll{overflow-x:auto;position:relative}
.gz table{background:transparent;border-collapse:collapse;color:inherit;width:100%}
.gz caption{color:inherit;font-weight:bold;padding:4px 0;text-align:left}
.gz th,.gz td{background:transparent;border-bottom:1px solid $line;color:inherit;font-weight:normal;
overflow-wrap:anywhere;padding:4px 8px 4px 0;text-align:left;vertical-align:top}
.gz tbody th{min-width:110px}
.gz td{min-width:92px}
.gz thead th{font-weight:bold;overflow-wrap:normal}
.gz .gz-field{display:inline-block;margin:4px 16px 4px 0}
.gz label{color:inherit;display:block;font-weight:bold}
.gz input{background:transparent;border:1px solid;color:inherit;font:inherit;max-width:100%;
min-height:28px;padding:2px 6px}
.gz .gz-hint{display:block}
.gz .gz-button{background:transparent;border:1px solid currentColor;border-radius:4px;color:$mark;
cursor:pointer;font:inherit;margin:2px 8px 2px 0;min-height:28px;overflow-wrap:normal;
padding:2px 12px;white-space:nowrap;word-break:normal}
.gz .gz-primary{background:$mark;border-color:transparent;color:$sheet}
.gz code{font-size:13px;overflow-wrap:anywhere;user-select:all}
.gz td:has(code){min-width:180px}
.gz .gz-button:focus-visible,.gz input:focus-visible{outline:2px solid currentColor;
outline-offset:2px}
.gz .gz-button:focus-visible{outline-color:$text}
.gz .gz-hidden{clip-path:inset(50%);height:1px;overflow:hidden;position:absolute;
white-space:nowrap;width:1px}
.gz .gz-verdict{border:1px solid $line;border-left:6px solid $neutral;border-radius:10px;
overflow-wrap:anywhere;padding:12px 16px}
.gz .gz-good{border-left-color:$good;color:$good}
.gz .gz-bad{border-left-color:$bad;color:$bad}
.gz .gz-parts{display:grid;gap:16px;grid-template-columns:repeat(auto-fit,minmax(240px,1fr))}
.gz ul{color:inherit;list-style:none;margin:4px 0;padding:0}
.gz li{color:inherit;margin:6px 0;overflow-wrap:anywhere}
.gz code{background:transparent;color:inherit;font-family:monospace}
""")


def page(*parts: str, theme: str) -> Html:
    """Return the HTML of a widget in a theme (`light` or `dark`)."""
    rules = _RULES.substitute(PALETTE.get(theme, PALETTE["light"]))
    style = Html(f"<style>{rules}</style>")
    return joined(style, element("div", *parts, class_="gz"))


class Tone(StrEnum):
    """The colour of a verdict."""

    GOOD = "good"
    BAD = "bad"
    NEUTRAL = "neutral"

    @classmethod
    def of(cls, worst: Level) -> "Tone":
        """Return the tone of a verdict by the worst level."""
        return {Level.OK: cls.GOOD, Level.WARNING: cls.NEUTRAL}.get(worst, cls.BAD)


def heading(verdict: str, *, tone: Tone) -> Html:
    """Return the verdict, which is the first line of a page."""
    return element("h2", verdict, class_=f"gz-verdict gz-{tone}")
