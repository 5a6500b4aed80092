"""The colours of the pages for operators, in the console and in the files that commands write."""

from collections.abc import Mapping
from types import MappingProxyType

PALETTE: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "light": {
            "page": "#f3f4f6",
            "sheet": "#ffffff",
            "text": "#111827",
            "quiet": "#4b5563",
            "line": "#d1d5db",
            "mark": "#1d4ed8",
            "good": "#15803d",
            "bad": "#b91c1c",
            "neutral": "#6b7280",
        },
        "dark": {
            "page": "#0b1120",
            "sheet": "#111827",
            "text": "#f3f4f6",
            "quiet": "#b6bdc9",
            "line": "#313b4d",
            "mark": "#93c5fd",
            "good": "#86efac",
            "bad": "#fca5a5",
            "neutral": "#8b95a5",
        },
    }
)
"""The colours by theme. Buttons have the colour `mark`, and verdicts have `good` or `bad`."""
