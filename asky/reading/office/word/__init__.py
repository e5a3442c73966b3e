"""Word documents: one tree of what a person sees, with all changes accepted; readers render it and decide nothing."""
