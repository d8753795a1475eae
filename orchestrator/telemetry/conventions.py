"""Forms of OpenTelemetry: the names of attributes, and the headers for a collector in a variable.

The names `gen_ai.*` are OpenTelemetry's conventions for generative AI, in development and subject to change.
They stand here alone, as github.com/open-telemetry/semantic-conventions-genai 0.1.0 has them. The others are
facts of sq.
"""

from urllib.parse import unquote

SCHEMA = "https://opentelemetry.io/schemas/1.45.0"

OPERATION = "gen_ai.operation.name"
INVOKE_WORKFLOW, INVOKE_AGENT, CHAT = "invoke_workflow", "invoke_agent", "chat"
AGENT = "gen_ai.agent.name"
PROVIDER, ANTHROPIC = "gen_ai.provider.name", "anthropic"
CONVERSATION = "gen_ai.conversation.id"
REQUEST_MODEL = "gen_ai.request.model"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS = "gen_ai.usage.cache_creation.input_tokens"
ERROR_TYPE = "error.type"

RUN_ID, TASK_ID, ATTEMPT, ITERATION = "sq.run.id", "sq.task.id", "sq.attempt", "sq.iteration"
ROLE, CALL_ID, SUBJECT = "sq.role", "sq.call.id", "sq.subject"
OUTCOME, EXIT_CODE, COST = "sq.outcome", "sq.exit_code", "sq.cost.usd"
COMMAND, COMMAND_EXIT_CODE, PURPOSE = "sq.command", "sq.command.exit_code", "sq.command.purpose"
GATE, VERDICT = "sq.gate", "sq.gate.verdict"
PASSED, FINDINGS = "sq.review.passed", "sq.review.findings"
COMMIT, TREE = "sq.commit", "sq.tree"
EFFORT, VERSION, REHEARSAL = "sq.effort", "sq.version", "sq.rehearsal"
MODEL_EFFORT = "sq.model.effort"
TASKS, MERGED = "sq.tasks.total", "sq.tasks.merged"
END, TURNS = "sq.call.end", "sq.call.turns"
WAIT, CONFLICTS = "sq.wait_s", "sq.merge.conflicts"


def read_headers(text: str) -> dict[str, str]:
    """Return the headers by their names, or {} if the text is of another form. Values are percent-encoded."""
    found: dict[str, str] = {}
    for pair in filter(None, (one.strip() for one in text.split(","))):
        name, sign, value = pair.partition("=")
        name, value = name.strip().lower(), unquote(value.strip())
        if not (sign and name and name.isascii() and value.isascii() and (name + value).isprintable()):
            return {}
        found[name] = value
    return found
