"""The functions of source code in many languages: which a work changed, and the code without their bodies."""
