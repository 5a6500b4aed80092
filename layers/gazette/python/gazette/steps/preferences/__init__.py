"""The preference page, unsubscribing by a link, and past emails in the browser."""
