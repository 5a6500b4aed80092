"""`gazette import`: publish profiles, follows and suppressions from a file."""
