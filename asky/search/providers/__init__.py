"""One module per search service. Rule: an adapter turns a request into a call and a reply into candidates; no more."""
