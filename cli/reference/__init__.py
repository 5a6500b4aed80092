"""The pages of docs/cli: the permissions, an example and the JSON shape of each command."""
