"""The SQLite store, the source of truth. Rule: every write is one short BEGIN IMMEDIATE transaction; every index is
rebuilt from it.
"""
