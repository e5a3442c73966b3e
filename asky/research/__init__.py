"""The retrieval core: acquire, chunk, embed, index, retrieve, synthesize. Rule: nothing here depends on a product."""
