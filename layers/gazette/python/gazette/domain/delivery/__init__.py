"""The life of a run from pending to its end, and the rate at which emails are sent. Pure."""
