"""`gazette replay`: what a change of templates or settings would have done to sent emails."""
