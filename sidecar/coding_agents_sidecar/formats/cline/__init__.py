"""What Cline, Roo Code, Zoo Code and the older Kilo Code store, read once for all of them."""
