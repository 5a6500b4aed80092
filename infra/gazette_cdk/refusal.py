"""The exception that ends a synthesis with plain lines."""


class Refused(SystemExit):
    """A problem with a stage's settings or templates, or with the tools of this machine.

    Each line of the text begins with `gazette: ` and describes one problem. If no code catches the
    exception, Python prints the lines without a traceback and exits with status 1.
    https://docs.python.org/3/library/exceptions.html#SystemExit
    """

    def __init__(self, text: str) -> None:
        super().__init__("\n".join(f"gazette: {line}" for line in text.splitlines()))
