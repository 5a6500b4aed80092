"""The events that Gazette publishes about readers and emails, derived from changes of rows."""
