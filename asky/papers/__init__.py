"""The paper library: papers with their text, page by page, over the shared store."""
