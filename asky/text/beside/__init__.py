"""What stands beside the text of a document: remarks, hidden comments, sections that asky wrote into a note."""
