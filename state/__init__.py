"""The ground: facts, their record, and the view made from them. Imports nothing of the floors above."""
