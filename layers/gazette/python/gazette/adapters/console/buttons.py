"""The buttons of the support page, which call its functions."""

from gazette.adapters.console.markup import Html, button


class Buttons:
    """The buttons of the page. The function of a stage that redrives messages has its own ARN."""

    def __init__(self, *, looking: str, redriving: str) -> None:
        self._looking = looking
        self._redriving = redriving

    def back(self) -> Html:
        """Return the button that shows the first page again."""
        return button("Back to the queues", endpoint=self._looking, parameters={})

    def queues(self) -> Html:
        """Return the button that shows the support page in the place of the story."""
        return button("Show the queues and ask questions", endpoint=self._looking, parameters={})

    def messages(self, queue: str) -> Html:
        """Return the button that shows more messages of a queue."""
        return button(
            "Show messages",
            endpoint=self._looking,
            parameters={"do": "messages", "queue": queue},
            about=f"of {queue}",
        )

    def ask(self, label: str, question: str) -> Html:
        """Return the button that answers a question in a pop-up."""
        return button(label, endpoint=self._looking, parameters={"do": question}, in_popup=True)

    def plan(self, label: str, *, about: str = "", **parameters: str) -> Html:
        """Return the button that shows what a redrive would do. It moves no message."""
        return button(
            label,
            endpoint=self._redriving,
            parameters={"do": "plan", **parameters},
            about=about,
        )

    def redrive(self, label: str, order: str, *, confirmation: str) -> Html:
        """Return the button that redrives the messages of a signed order."""
        return button(
            label,
            endpoint=self._redriving,
            parameters={"do": "redrive", "order": order},
            confirmation=confirmation,
        )
