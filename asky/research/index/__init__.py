"""The vector index over the data in SQLite. Rule: it can be dropped and rebuilt without embedding anything again."""
