"""Books. Rule: a chapter is content as a whole, in the order of the book's spine."""
