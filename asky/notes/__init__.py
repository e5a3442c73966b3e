"""The user's notes: the vault, its links, what its notes say. Rule: nothing outside the vault is opened."""
