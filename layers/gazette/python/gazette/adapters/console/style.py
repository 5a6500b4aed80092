"""The styles of the support page in the light and the dark theme of the console."""

from gazette.adapters.console.markup import Html, element, joined

_COLOURS = {
    "light": ("#ffffff", "#16191f", "#414d5c", "#8c8c94", "#0754a0", "#ffffff"),
    "dark": ("#0f1b2a", "#e9ebed", "#b6bec9", "#7d8998", "#89bdee", "#0f1b2a"),
}
"""Background, text, secondary text, borders, buttons, and the text of buttons, by theme."""

_RULES = """
.gz{background:%s;color:%s;font-size:14px;line-height:1.4;padding:8px}
.gz h2,.gz h3{color:inherit;margin:16px 0 4px}
.gz h2{font-size:20px;margin-top:0}
.gz h3{font-size:16px}
.gz p{color:inherit;margin:4px 0}
.gz .gz-hint{color:%s}
.gz .gz-scroll{overflow-x:auto;position:relative}
.gz table{background:transparent;border-collapse:collapse;color:inherit;width:100%%}
.gz caption{color:inherit;font-weight:bold;padding:4px 0;text-align:left}
.gz th,.gz td{background:transparent;border-bottom:1px solid %s;color:inherit;font-weight:normal;
overflow-wrap:anywhere;padding:4px 8px 4px 0;text-align:left;vertical-align:top}
.gz thead th{font-weight:bold;overflow-wrap:normal}
.gz .gz-field{display:inline-block;margin:4px 16px 4px 0}
.gz label{color:inherit;display:block;font-weight:bold}
.gz input{background:transparent;border:1px solid;color:inherit;font:inherit;max-width:100%%;
min-height:28px;padding:2px 6px}
.gz .gz-hint{display:block}
.gz .gz-button{background:%s;border:1px solid transparent;border-radius:4px;color:%s;
cursor:pointer;font:inherit;margin:2px 8px 2px 0;min-height:28px;padding:2px 12px}
.gz .gz-button:focus-visible,.gz input:focus-visible{outline:2px solid currentColor;
outline-offset:2px}
.gz .gz-button:focus-visible{outline-color:%s}
.gz .gz-hidden{clip-path:inset(50%%);height:1px;overflow:hidden;position:absolute;
white-space:nowrap;width:1px}
"""


def page(*parts: str, theme: str) -> Html:
    """Return the HTML of a widget in a theme (`light` or `dark`)."""
    back, front, hint, line, button, label = _COLOURS.get(theme, _COLOURS["light"])
    rules = _RULES % (back, front, hint, line, button, label, front)
    style = Html(f"<style>{rules}</style>")
    return joined(style, element("div", *parts, class_="gz"))
