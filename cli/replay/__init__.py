"""`gazette replay`: render sent emails again with changed templates or settings."""
