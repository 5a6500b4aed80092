"""The keys of the links in Secrets Manager: read seldom, and changed one at a time."""

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from gazette.domain.errors import InvalidKeys, Unavailable
from gazette.domain.links import LinkKeys, read_keys
from gazette.domain.ports.outside import Clock, KeyStore

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

CACHED_FOR = timedelta(minutes=5)
"""How old what is known of the keys may be: so long a new one may not sign, a retired one do."""

ASKED_EVERY = timedelta(minutes=1)
"""Secrets Manager is asked no more often, whatever key ids strangers make up."""

_CONFIG = Config(connect_timeout=2, read_timeout=3, retries={"total_max_attempts": 2})
"""An email waits for this: it is rather signed with a key that is known."""


class SecretKeyStore:
    """The port `KeyStore`. `secret` is a name or an ARN."""

    def __init__(self, secret: str) -> None:
        self._client: SecretsManagerClient = boto3.client("secretsmanager", config=_CONFIG)
        self._secret = secret
        self._version = ""

    def read(self) -> LinkKeys:
        """One GetSecretValue."""
        try:
            found = self._client.get_secret_value(SecretId=self._secret)
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(f"The keys of the links cannot be read ({err})") from err
        self._version = found["VersionId"]
        try:
            return read_keys(found.get("SecretString", ""))
        except InvalidKeys as err:
            raise InvalidKeys(
                f"The secret {self._secret} does not hold the keys of the links: {err}. Bring its "
                "version AWSPREVIOUS back, or put a JSON object of key ids to keys into it, such "
                'as {"k1": "…"}: links signed with a key that is not in it no longer work.'
            ) from err

    def replace(self, keys: LinkKeys) -> bool:
        """One PutSecretValue, under an id that is made of the version that was read.

        So of two who change the same version only one can: an id is taken for good.
        https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_PutSecretValue.html
        """
        try:
            self._client.put_secret_value(
                SecretId=self._secret,
                SecretString=keys.to_json(),
                ClientRequestToken=hashlib.sha256(self._version.encode()).hexdigest(),
            )
        except self._client.exceptions.ResourceExistsException:
            return False
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(f"The keys of the links cannot be changed ({err})") from err
        return True


class CachedKeys:
    """What a process knows of the keys. The first look must succeed."""

    def __init__(self, store: KeyStore, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._keys = store.read()
        self._read_at = self._asked_at = clock()

    def known(self) -> LinkKeys:
        """As they were five minutes ago at most; older where Secrets Manager does not answer."""
        if self._clock() - self._read_at > CACHED_FOR:
            return self.newer()
        return self._keys

    def newer(self) -> LinkKeys:
        """As they are now, or as they were within the last minute.

        Raises InvalidKeys, each time that it looks, where the secret no longer holds keys.
        """
        now = self._clock()
        if now - self._asked_at < ASKED_EVERY:
            return self._keys
        self._asked_at = now
        try:
            self._keys = self._store.read()
        except Unavailable:
            return self._keys
        self._read_at = now
        return self._keys
