"""SQLite is the truth. Rule: every write is one short BEGIN IMMEDIATE transaction; every index is rebuilt from it."""
