"""The formats of a report, one module each: from its contents to the text of one file."""
