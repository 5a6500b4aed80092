"""The link-signing keys in Secrets Manager.

Processes cache the keys. Only an operator changes them.
"""

import hashlib

from botocore.exceptions import BotoCoreError, ClientError

from gazette.adapters.aws.secrets import read_secret, secrets_client
from gazette.adapters.cached import Cached
from gazette.domain.errors import InvalidKeys, Unavailable
from gazette.domain.links import LinkKeys, read_keys
from gazette.domain.ports.clock import Clock


class SecretKeyStore:
    """Implementation of the `KeyStore` port backed by Secrets Manager. `secret` is a name or an
    ARN.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._version = ""

    def read(self) -> LinkKeys:
        """Read the keys with one GetSecretValue."""
        answer = read_secret(self._secret, "The link keys")
        self._version = answer["VersionId"]
        try:
            return read_keys(answer.get("SecretString", ""))
        except InvalidKeys as err:
            raise InvalidKeys(
                f"The secret {self._secret} does not contain valid link keys: {err}. Restore its "
                f"version AWSPREVIOUS, or set its value to a JSON object of keys by id, such as "
                '{"k1": "…"}. Links signed with a missing key stop working.'
            ) from err

    def replace(self, keys: LinkKeys) -> bool:
        """Replace the keys with one PutSecretValue.

        The request token is derived from the version that was read. A token can be used only once,
        so if two people change the same version, only one succeeds.
        https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_PutSecretValue.html
        """
        secrets = secrets_client()
        try:
            secrets.put_secret_value(
                SecretId=self._secret,
                SecretString=keys.to_json(),
                ClientRequestToken=hashlib.sha256(self._version.encode()).hexdigest(),
            )
        except secrets.exceptions.ResourceExistsException:
            return False
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(f"The link keys cannot be changed: {err}") from err
        return True


def cached_keys(secret: str, *, clock: Clock) -> Cached[LinkKeys]:
    """Return a process's cache of the link keys. The first read occurs immediately and must
    succeed.

    For a minute after a rotation, a process may still sign with the previous key. For a minute
    after a leaked key is retired, a process may still accept links signed with that key.
    """
    return Cached(SecretKeyStore(secret).read, clock=clock)
