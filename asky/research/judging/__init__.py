"""A second reading of an answer's claims by a model: optional, beside the verdicts of the rules."""
