"""The journal of a run, from which it is resumed or replayed. Rule: a step is on disk before its data is used."""
