"""The records that events carry and floors exchange, frozen and independent of how they are stored.

The seed's `taskId` is `task_id` here (JSON written for people keeps the seed's camelCase).
"""
