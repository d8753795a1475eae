"""Known secrets are found in every spelling, unknown ones by their format, and honest text stays as it is."""

import base64
import json
import secrets
import string
import textwrap
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.tables import rows, table

from state.redaction.known import Known
from state.redaction.redactor import Redactor, checksum, known_in_files, redactor, token_formats, tokens_in

VALUE = "aB3-xY9_kQ7wZ2mN8pR4tV6"
MARK = "[redacted: SERVICE_TOKEN]"
REDACT = redactor({"SERVICE_TOKEN": VALUE})


def base64_of(text, before):
    return base64.b64encode(b"x" * before + text.encode() + b"tail").decode()


SPELLED = {
    "plain": VALUE,
    "base64": base64_of(VALUE, 0),
    "base64, one byte before": base64_of(VALUE, 1),
    "base64, two bytes before": base64_of(VALUE, 2),
    "base64 over lines": "\n".join(textwrap.wrap(base64_of(VALUE, 0), 10)),
    "base64 for URLs": base64.urlsafe_b64encode(f"ab{VALUE}".encode()).decode(),
    "a URL": quote(f"token={VALUE}&x=/é", safe=""),
    "all percent-encoded": "".join(f"%{byte:02X}" for byte in VALUE.encode()),
    "hexadecimal": VALUE.encode().hex(),
    "hexadecimal capitals": VALUE.encode().hex().upper(),
    "over lines": "\n".join(textwrap.wrap(VALUE, 5)),
    "letter by letter": " ".join(VALUE),
    "in lines inside JSON": json.dumps({"output": "\n".join(textwrap.wrap(VALUE, 5))}),
    "in JSON in JSON": json.dumps(json.dumps(["\r\n".join(textwrap.wrap(VALUE, 4))])),
    "in quotes": '"' + '" "'.join(textwrap.wrap(VALUE, 6)) + '"',
}


@pytest.mark.parametrize("text", SPELLED.values(), ids=SPELLED)
def test_a_known_secret_is_taken_out_however_it_is_spelled(text):
    shown = REDACT(f"before {text} after")
    assert MARK in shown
    assert shown.startswith("before")
    assert shown.endswith("after")
    rest = "".join(shown.replace(MARK, "").split())
    pieces = [text.replace("\n", "")[at : at + 12] for at in range(len(text) - 12)]
    assert not any(piece in rest for piece in pieces if piece in text and piece.isalnum())


@pytest.mark.parametrize("cut", range(11, 13))
def test_a_secret_that_is_split_over_two_texts_is_taken_out_of_both(cut):
    shown = [REDACT(f"one: {VALUE[:cut]}"), REDACT(f"{VALUE[cut:]} was two")]
    assert shown == [f"one: {MARK}", f"{MARK} was two"]


def test_a_secret_of_words_that_is_split_in_the_middle_is_taken_out_of_both():
    redact = redactor({"SERVICE_TOKEN": "correct-horse-battery-staple"})
    assert redact("one: correct-horse-b") == f"one: {MARK}"
    assert redact("attery-staple was two") == "attery-staple was two"  # less than half of it


@pytest.mark.parametrize("size", [12, 15, 20])
def test_a_random_piece_of_a_secret_is_taken_out_by_itself(size):
    assert VALUE[3 : 3 + size] not in REDACT(f"the middle is {VALUE[3 : 3 + size]}, I think")


def test_a_secret_inside_json_leaves_the_json_readable():
    payload = json.dumps({"summary": "\n".join(textwrap.wrap(VALUE, 7)), "notes": [VALUE, "fine"]})
    assert json.loads(REDACT(payload)) == {"summary": MARK, "notes": [MARK, "fine"]}


@given(
    secret=st.text(alphabet=string.ascii_letters + string.digits + "-_/+=.", min_size=16, max_size=60).filter(
        lambda text: not text.isalpha()
    ),
    before=st.text(max_size=40),
    after=st.text(max_size=40),
)
def test_a_secret_is_found_at_each_place_of_a_text(secret, before, after):
    shown = redactor({"A_TOKEN": secret})(f"{before}|{secret}|{after}")
    assert secret not in shown


@given(st.text())
def test_a_text_without_a_secret_stays_as_it_is(text):
    assert REDACT(text) == text


def test_a_prefix_that_everybody_knows_is_no_piece_of_a_secret():
    redact = redactor(
        {
            "ANTHROPIC_API_KEY": "sk-ant-api03-" + "aB3dE5fG7hJ9" * 8,
            "DB_URL": "postgres://app:aB3dE5fG7h@db/x1",
        }
    )
    for text in ("a key begins with sk-ant-api03-", "the address is postgres://app@db/x1"):
        assert redact(text) == text


def test_the_password_in_an_address_is_a_secret_by_itself():
    redact = redactor({"DATABASE_URL": "postgres://app:hunter2%2Fhunter2@db:5432/app"})
    assert redact("it is hunter2/hunter2") == "it is [redacted: DATABASE_URL]"


# --- files ---------------------------------------------------------------------------------------------

FILES = table(__file__, "files")


@pytest.mark.parametrize("name", FILES)
def test_a_secret_in_a_file_that_usually_holds_some_is_known(tmp_path, name):
    (tmp_path / "project").mkdir()
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(FILES[name].format(VALUE))
    redact = redactor({}, known_in_files(tmp_path / "home", tmp_path / "project"))
    assert VALUE not in redact(f"it is {VALUE}.")


def test_credentials_as_base64_of_user_and_password_are_known_with_the_password(tmp_path):
    pair = base64.b64encode(f"me:{VALUE}".encode()).decode()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(f"[http]\n\textraheader = AUTHORIZATION: basic {pair}\n")
    redact = redactor({}, known_in_files(tmp_path / "home", tmp_path))
    assert redact(f"{pair} and {VALUE}") == "[redacted: a git remote] and [redacted: a git remote]"


def test_ordinary_settings_of_an_env_file_and_its_examples_are_none(tmp_path):
    (tmp_path / ".env").write_text("PORT=8080\nNAME=my-little-service\nURL=http://localhost:3000/path\n")
    (tmp_path / ".env.example").write_text("API_TOKEN=put-your-token-here\n")
    assert known_in_files(tmp_path / "home", tmp_path) == []


def test_a_remote_of_a_worktree_is_found_in_the_common_folder(tmp_path):
    common, own = tmp_path / "main/.git", tmp_path / "main/.git/worktrees/w"
    own.mkdir(parents=True)
    (common / "config").write_text(f"url = https://me:{VALUE}@example.org/x.git\n")
    (own / "commondir").write_text("../..\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.git").write_text(f"gitdir: {own}\n")
    assert Known("a git remote", VALUE) in known_in_files(tmp_path / "home", tmp_path / "w")


def test_a_file_that_cannot_be_read_is_left_out(tmp_path):
    (tmp_path / ".env").mkdir()
    (tmp_path / "home/.netrc").mkdir(parents=True)
    assert known_in_files(tmp_path / "home", tmp_path) == []


# --- tokens that sq does not know ----------------------------------------------------------------------


def random(count, alphabet=string.ascii_letters + string.digits):
    """Random characters, with small letters, capitals and digits where the alphabet has them."""
    first = [one for one in "aB3" if one in alphabet]
    return "".join([*first, *(secrets.choice(alphabet) for _ in range(count - len(first)))])


def checked(prefix):
    body = random(30)
    return f"{prefix}{body}{checksum(body)}"


def jwt():
    header = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(b'{"sub":"somebody","iat":1}').decode().rstrip("=")
    return f"{header}.{body}.{random(43)}"


HEX = string.digits + "abcdef"
TOKENS = {
    "GitHub token": lambda: checked("gh" + "p_"),
    "GitHub fine-grained token": lambda: f"github{'_pat_'}{random(22)}_{random(59)}",
    "npm token": lambda: checked("np" + "m_"),
    "PyPI token": lambda: f"pypi-{'AgEIcHlwaS5vcmc'}{random(80)}",
    "AWS access key": lambda: f"AKI{'A'}{random(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}",
    "Slack token": lambda: f"xox{'b-'}{random(12, string.digits)}-{random(24)}",
    "Slack webhook": lambda: (
        f"https://hooks.slack.com/services{'/T'}{'0AB1CD2EF'}/B{'0AB1CD2EF'}/{random(24)}"
    ),
    "Stripe key": lambda: f"sk{'_live_'}{random(24)}",
    "Google API key": lambda: f"AIz{'a'}{random(35)}",
    "Google client secret": lambda: f"GOCSP{'X-'}{random(28)}",
    "GitLab token": lambda: f"glpa{'t-'}{random(20)}",
    "Anthropic key": lambda: f"sk-an{'t-'}api03-{random(95)}",
    "OpenAI key": lambda: f"sk-pro{'j-'}{random(120)}",
    "Twilio key": lambda: f"S{'K'}{random(32, HEX)}",
    "SendGrid key": lambda: f"S{'G.'}{random(22)}.{random(43)}",
    "Hugging Face token": lambda: f"h{'f_'}{random(34, string.ascii_letters)}",
    "DigitalOcean token": lambda: f"dop{'_v1_'}{random(64, HEX)}",
    "Shopify token": lambda: f"shpa{'t_'}{random(32, HEX)}",
    "Azure storage key": lambda: f"Account{'Key='}{random(86)}==",
    "Telegram bot token": lambda: f"123456789:A{'A'}{random(33)}",
    "session token of sq": lambda: f"sqk{'_'}{random(43)}",
    "Docker token": lambda: f"dckr{'_pat_'}{random(27)}",
    "JWT": jwt,
    "private key": lambda: (
        f"-----BEGIN RSA {'PRIVATE KEY'}-----\n{random(64)}\n{random(64)}\n-----END RSA {'PRIVATE KEY'}-----"
    ),
}


def test_each_format_of_the_data_file_has_a_token_here():
    assert set(TOKENS) == {one.name for one in token_formats()}
    assert len(TOKENS) >= 20


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_of_a_known_format_is_replaced_by_the_name_of_the_format(name):
    token = TOKENS[name]()
    assert Redactor()(f"here: {token}, there") == f"here: [redacted: {name}], there"
    assert Redactor().known(f"here: {token}") == f"here: {token}"


@pytest.mark.parametrize("name", ["GitHub token", "npm token"])
def test_a_token_whose_checksum_does_not_fit_is_none(name):
    token = TOKENS[name]()
    assert tokens_in(token[:-1] + ("a" if token[-1] != "a" else "b")) == []


HONEST = table(__file__, "honest")


@pytest.mark.parametrize("text", HONEST)
def test_an_example_or_a_hash_is_no_token(text):
    assert tokens_in(text) == []


@pytest.mark.parametrize(*rows(__file__, "leaks"))
def test_the_parts_of_an_address_and_of_headers_are_secrets_too(value: str, leaked: str) -> None:
    from state.redaction.redactor import known_in

    redact = redactor({}, known_in({"HOOK": value}))
    assert leaked.rsplit(maxsplit=1)[-1] not in redact(f"it said {leaked}.")
    assert "HOOK" in redact(f"it said {leaked}.")
    assert redact("services of the team sq at the host") == "services of the team sq at the host"


@pytest.mark.parametrize(
    "text",
    [
        "-eyJ" * 100_000,
        ("-eyJ" * 75 + ".eyJ" + "-eyJ" * 500) * 100,
        ("-----BEGIN RSA PRIVATE KEY-----\n" + "A" * 64 + "\n") * 4_000,
        "-----BEGIN PRIVATE KEY-----" * 10_000 + "A" * 100_000,
        *(start * 40_000 for row in token_formats() for start in row.starts[:1] if start),
    ],
    ids=lambda text: text[:16],
)
def test_no_text_is_looked_through_again_from_each_of_its_places(text):
    """An expression holds all of sq while it looks: with 2 MB of such a text it took hours."""
    began = time.process_time()
    tokens_in(text)
    assert time.process_time() - began < 3


@pytest.mark.parametrize("before", ["", " ", "=", "Bearer-", "token_is:", '"'])
def test_a_signed_token_is_found_behind_what_may_stand_before_it(before):
    def part(data):
        return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")

    token = f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part({'sub': '1234567890'})}.{'aB3xY9kQ7wZ2' * 3}"
    assert [one.format for one in tokens_in(f"{before}{token} ")] == ["JWT"]
