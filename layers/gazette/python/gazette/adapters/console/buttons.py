"""The buttons of the support page, which call its functions."""

from gazette.adapters.console.markup import Html, button

POPUP = "popup"
"""The value of the parameter `place` of buttons in a pop-up."""


class Buttons:
    """The buttons of a page. The function of a stage that redrives messages has its own ARN.

    With `in_popup`, the pages that the buttons show are in the pop-up too.
    """

    def __init__(self, *, looking: str, redriving: str, in_popup: bool = False) -> None:
        self._looking = looking
        self._redriving = redriving
        self._in_popup = in_popup
        self._place = {"place": POPUP} if in_popup else {}

    def back(self) -> Html:
        """Return the button that shows the first page again. A pop-up needs none."""
        if self._in_popup:
            return Html()
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
        parameters = {"do": question, "place": POPUP}
        return button(label, endpoint=self._looking, parameters=parameters, in_popup=True)

    def plan(self, label: str, *, about: str = "", **parameters: str) -> Html:
        """Return the button that shows what a redrive would do. It moves no message."""
        return button(
            label,
            endpoint=self._redriving,
            parameters={"do": "plan", **self._place, **parameters},
            about=about,
            in_popup=self._in_popup,
        )

    def redrive(self, label: str, order: str, *, confirmation: str) -> Html:
        """Return the button that redrives the messages of a signed order."""
        return button(
            label,
            endpoint=self._redriving,
            parameters={"do": "redrive", **self._place, "order": order},
            confirmation=confirmation,
            in_popup=self._in_popup,
            is_primary=True,
        )
