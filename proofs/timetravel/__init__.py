"""Many readers and days, with a clock whose ticks are dropped, doubled and late."""
