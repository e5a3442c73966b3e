"""Files of values under keys: JSON, JSON Lines, YAML, TOML and INI, each value read as a line with its path."""
