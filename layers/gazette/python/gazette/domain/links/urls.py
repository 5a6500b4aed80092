"""Which links readers are ever given. Pure."""

import re

LONGEST = 2000
"""Characters. Longer ones are cut off or refused on their way to a browser."""

_WEB = re.compile(r"https?://[A-Za-z0-9\[][!#-;=?-~]*")
"""RFC 3986, absolute, http or https alone; neither quotes nor angle brackets nor spaces."""


def is_web_link(url: str) -> bool:
    """Whether a reader may be led there: never `javascript:` or `data:`, nothing that is cut."""
    return len(url) <= LONGEST and _WEB.fullmatch(url) is not None
