"""The built-in model, which quotes sentences of the passages it is given.

Rule: what it states is quoted; its own words only introduce a quotation, or say that there is none.
"""
