"""`gazette_cdk.app` for an engine that enforces IAM. It deploys with the caller's credentials.

The engine does not let the bootstrap's roles publish assets.
"""

from functools import partial
from unittest.mock import patch

from aws_cdk import App, CliCredentialsStackSynthesizer

from gazette_cdk import app, assembly

if __name__ == "__main__":
    synthesizer = CliCredentialsStackSynthesizer()
    with patch.object(assembly, "App", partial(App, default_stack_synthesizer=synthesizer)):
        app.main()
