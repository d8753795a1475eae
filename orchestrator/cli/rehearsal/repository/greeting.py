"""A greeting."""


def greet(name: str) -> str:
    """A greeting for somebody with a name."""
    if not name:
        raise ValueError("whom should be greeted? The name is empty")
    return f"Hello, {name}!"
