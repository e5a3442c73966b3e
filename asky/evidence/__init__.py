"""Keys, quotes, claims and the ledger of what was shown. Rule: pure functions over values wherever it can be."""
