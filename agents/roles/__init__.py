"""The roles of a run, one module each: what each is asked and what it gives back."""
