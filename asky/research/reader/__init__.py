"""The reader: a small model that reads a question with a passage, and a claim with its evidence."""
