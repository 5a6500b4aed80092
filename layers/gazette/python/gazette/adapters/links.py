"""The reader's own links."""

from gazette.domain.ports import Links
from gazette.domain.tokens import sign

UNSUBSCRIBE = "unsubscribe"


class SignedLinks:
    """The port `LinkMaker`: links below `base_url` with a token signed by `key`."""

    def __init__(self, *, base_url: str, key: bytes) -> None:
        self._base_url = base_url.rstrip("/")
        self._key = key

    def links(self, user_id: str) -> Links:
        """The links for this reader."""
        token = sign(user_id, purpose=UNSUBSCRIBE, key=self._key)
        return Links(unsubscribe=f"{self._base_url}/{UNSUBSCRIBE}/{token}")
