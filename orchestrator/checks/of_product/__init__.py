"""Questions about the product as its users get it: what it loads, imports, documents and brings."""
