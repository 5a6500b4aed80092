"""The reader's own links, kept from being led by a server of SES."""

import re

from markupsafe import escape

from gazette.domain.ports.outside import Links

_ATTRIBUTES = r"(?:[^>\"']|\"[^\"]*\"|'[^']*')*?"
_MARKED = r"\g<0> ses:no-track"


def without_tracking(html: str, links: Links) -> str:
    """`html`, with the attribute `ses:no-track` on each link that leads to one of `links`.

    SES neither counts nor changes a link that has it, and takes the attribute out before it sends
    the email. https://docs.aws.amazon.com/ses/latest/dg/faqs-metrics.html, "Click Tracking"

    Marked here and not in the templates, so that no template of an adopter's can forget it: what
    unsubscribes must not depend on a server that counts, nor what is signed be read by it.
    """
    own = (links.unsubscribe, links.preferences, links.email, links.updates)
    addresses = "|".join(re.escape(str(escape(link))) for link in own)
    link = rf"<a(?=\s{_ATTRIBUTES}\bhref\s*=\s*([\"'])(?:{addresses})(?:[#?][^\"']*)?\1)"
    return re.sub(link, _MARKED, html, flags=re.IGNORECASE)
