"""Evidence for any work: which work it is, what the checks say of it, and what travels.

No model, no session and no plan of a run is needed (product.md, section 16).
"""
