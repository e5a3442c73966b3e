"""Writing with a model: the conversation it receives, and one reply. Rule: nothing here calls a tool."""
