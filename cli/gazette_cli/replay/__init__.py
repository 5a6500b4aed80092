"""`gazette replay`: render sent emails again to see the effect of a change."""
