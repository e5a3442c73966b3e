"""Chat models behind one port. Rule: nothing here knows of sources, storage or the terminal."""
