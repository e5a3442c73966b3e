"""Chat models behind one port. Rule: nothing here depends on sources, storage or the terminal."""
