"""`gazette explain`: the command, and the words in which it answers."""
