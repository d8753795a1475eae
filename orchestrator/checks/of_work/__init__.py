"""Questions that change the work, or take it out, and look whether its tests or its results notice."""
