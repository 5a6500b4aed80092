"""A stand-in for the CloudWatch console with one custom widget, by the pages of AWS.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/add_custom_widget_dashboard_interactivity.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/add_custom_widget_dashboard_about.html
"""

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from tests.functions.conftest import Cloud
from tests.unit.console.pages import ARN

Invoke = Callable[[str, dict[str, Any]], str]
"""A function that invokes a Lambda function by its ARN, and returns its HTML."""

_PAGE = """<!doctype html><html lang="en"><head><title>gazette-prod-support</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{font-family:sans-serif}body.dark{background:#0f1b2a;color:#e9ebed}
h1{font-size:18px;margin:0 8px}</style></head>
<body class="THEME"><main><h1>gazette-prod-support</h1><div id="widget"></div>
<dialog aria-label="Answer"><div id="popup"></div><button id="close">Close</button></dialog>
</main></body></html>"""

_SCRIPT = """
const context = () => ({
  dashboardName: 'gazette-prod-support', theme: 'THEME', params: GIVEN,
  forms: {all: Object.fromEntries([...document.querySelectorAll('#widget input')]
    .map(each => [each.name, each.value]))},
});
const place = (html, at) => {
  const parsed = new DOMParser().parseFromString(html, 'text/html');
  parsed.querySelectorAll('script, iframe, use, object, embed').forEach(each => each.remove());
  parsed.querySelectorAll('*').forEach(each => [...each.attributes]
    .filter(one => one.name.startsWith('on') || one.value.startsWith('javascript:'))
    .forEach(one => each.removeAttribute(one.name)));
  at.replaceChildren(...parsed.head.childNodes, ...parsed.body.childNodes);
  at.querySelectorAll('cwdb-action').forEach(action => {
    const parameters = JSON.parse(action.textContent || '{}');
    const {confirmation, endpoint, display} = Object.fromEntries(
      [...action.attributes].map(each => [each.name, each.value]));
    action.hidden = true;
    action.textContent = '';
    action.previousElementSibling.addEventListener('click', async () => {
      if (confirmation && !confirm(confirmation)) return;
      const html = await invoke(endpoint, {...parameters, widgetContext: context()});
      place(html, document.getElementById(display === 'popup' ? 'popup' : 'widget'));
      const dialog = document.querySelector('dialog');
      if (display === 'popup' && !dialog.open) dialog.showModal();
      window.answers = (window.answers || 0) + 1;
    });
  });
};
window.refresh = async () => {
  const html = await invoke(WIDGET, {...GIVEN, widgetContext: context()});
  place(html, document.getElementById('widget'));
};
document.getElementById('close').onclick = () => document.querySelector('dialog').close();
"""


class Console:
    """A dashboard that is open in a page, whose widget has the parameters `given`.

    `refuses` lets the person refuse each confirmation.
    """

    def __init__(
        self, page: Page, invoke: Invoke, *, widget: str, theme: str = "light", **given: str
    ) -> None:
        self.page = page
        self.refuses = False
        self.confirmations: list[str] = []
        page.expose_function("invoke", invoke)
        page.on("dialog", self._confirm)
        page.set_content(_PAGE.replace("THEME", theme))
        page.evaluate(
            _SCRIPT.replace("THEME", theme)
            .replace("WIDGET", json.dumps(widget))
            .replace("GIVEN", json.dumps(given))
        )
        self.refresh()

    def refresh(self) -> None:
        """Refresh the dashboard. A resize and another time range call the function in this way."""
        self.page.evaluate("refresh()")

    def press(self, name: str, *, within: str = "#widget") -> None:
        """Press the first button of this name with the keyboard, and wait for the answer."""
        button = self.page.locator(within).get_by_role("button", name=name).first
        before = self.page.evaluate("window.answers || 0")
        button.focus()
        self.page.keyboard.press("Enter")
        if not (self.refuses and "now" in name):
            self.page.wait_for_function(f"(window.answers || 0) > {before}")

    def _confirm(self, dialog: Any) -> None:
        self.confirmations.append(dialog.message)
        dialog.dismiss() if self.refuses else dialog.accept()


def opened(page: Page, cloud: Cloud, *, theme: str = "light", **given: str) -> Console:
    """Return the dashboard in a page. Its widget calls the real handlers."""

    def invoke(arn: str, payload: dict[str, Any]) -> str:
        html: Any = cloud.invoke(arn.split(":")[6].removeprefix("gazette-prod-"), payload)
        return str(html)

    return Console(page, invoke, widget=ARN, theme=theme, **given)
