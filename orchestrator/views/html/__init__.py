"""HTML of a run: the templates, styles and filters that the report and the page share."""
