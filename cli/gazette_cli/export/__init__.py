"""`gazette receipt`: state what became of an event, and which emails contain it."""
