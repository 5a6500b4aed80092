"""The rules of replays, statistics and template versions. The modules do no I/O."""
