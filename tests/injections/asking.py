"""`python -m tests.injections.asking OUT`: writes each injection's request to OUT/prompts, as sq would send it.

An answer belongs into OUT/answers/ID.json: the input of the reporting tool, or JSON of the schema.
`python -m tests.injections.scoring OUT` counts them.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from tests.injections.world import all_injections, asked_with


def main() -> None:
    folder = Path(sys.argv[1])
    (folder / "prompts").mkdir(parents=True, exist_ok=True)
    (folder / "answers").mkdir(exist_ok=True)
    injections = all_injections()
    for one in injections:
        text = json.dumps({"id": one.id, **asdict(asked_with(one))}, ensure_ascii=False, indent=1)
        (folder / "prompts" / f"{one.id}.json").write_text(f"{text}\n", "utf-8")
    print(f"{len(injections)} prompts are in {folder / 'prompts'}")  # noqa: T201


if __name__ == "__main__":
    main()
