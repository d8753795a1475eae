"""The ground: facts, their record, and what follows from them. Imports nothing of the floors above."""
