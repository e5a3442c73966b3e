"""The schema as numbered migrations. `PRAGMA user_version` holds the number of the last one applied.

A migration is a function of a connection inside one transaction; once released it is never edited, only followed by
another.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from asky.storage.source_names import fill_names

APPLICATION_ID = 0x41534B59  # "ASKY"
# A twelfth of a page in Latin letters, a sixth in Cyrillic, a quarter in Chinese: a row that takes more than half of a
# page leaves the rest of it empty. Source: texts of 6 kB on average take 9 % more than their bytes on disk, in blocks
# of 16,384 characters 24 % more.
BLOCK_CHARACTERS = 650

# Documents are immutable: a changed file gets a new one, so that a citation keeps its text. The text is stored in
# blocks of BLOCK_CHARACTERS, so that a passage of a large document is read without reading the whole.
_CORPUS = f"""
CREATE TABLE document (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL,
    title TEXT,
    media_type TEXT NOT NULL,
    characters INTEGER NOT NULL,
    sections TEXT NOT NULL DEFAULT '[]',
    pages TEXT NOT NULL DEFAULT '[]',
    metadata TEXT NOT NULL DEFAULT '{{}}',
    created_at TEXT NOT NULL
);
CREATE TABLE text_block (
    document_id INTEGER NOT NULL REFERENCES document(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (document_id, ordinal)
);
CREATE TABLE source (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    uri TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    url TEXT,
    path TEXT,
    external_id, -- a text or an integer, kept as it is: a column with a type would make one of the other
    document_id INTEGER REFERENCES document(id),
    size INTEGER,
    mtime_ns INTEGER,
    content_sha256 TEXT,
    verdict TEXT NOT NULL DEFAULT 'indexed',
    why TEXT,
    metadata TEXT NOT NULL DEFAULT '{{}}',
    fetched_at TEXT NOT NULL
);
CREATE INDEX source_document ON source(document_id);
CREATE INDEX source_content ON source(content_sha256);
CREATE TABLE collection (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL
);
CREATE TABLE collection_root (
    collection_id INTEGER NOT NULL REFERENCES collection(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    PRIMARY KEY (collection_id, path)
) WITHOUT ROWID;
CREATE TABLE collection_source (
    collection_id INTEGER NOT NULL REFERENCES collection(id) ON DELETE CASCADE,
    source_id TEXT NOT NULL REFERENCES source(id) ON DELETE CASCADE,
    PRIMARY KEY (collection_id, source_id)
) WITHOUT ROWID;
CREATE INDEX collection_source_source ON collection_source(source_id);
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL REFERENCES document(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    context TEXT NOT NULL,
    UNIQUE (document_id, ordinal)
);
CREATE VIEW chunk_text AS
    SELECT c.id AS id, c.context AS context, (
        SELECT substr(group_concat(b.text, ''), c.start % {BLOCK_CHARACTERS} + 1, c.end - c.start)
        FROM (
            SELECT text FROM text_block
            WHERE document_id = c.document_id
              AND ordinal BETWEEN c.start / {BLOCK_CHARACTERS} AND max(c.end - 1, 0) / {BLOCK_CHARACTERS}
            ORDER BY ordinal
        ) AS b
    ) AS text
    FROM chunk AS c;
CREATE VIRTUAL TABLE chunk_fts USING fts5(
    context, text, content='chunk_text', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2'
);
"""

# A pack holds the vectors of some chunks of one document: little-endian int64 ids and float32 rows in the same order.
# corpus_version changes with every change that invalidates a cached matrix of vectors.
_VECTORS = """
CREATE TABLE space (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    dim INTEGER NOT NULL,
    created_at TEXT NOT NULL
);
CREATE TABLE vector_pack (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id INTEGER NOT NULL REFERENCES space(id) ON DELETE CASCADE,
    document_id INTEGER NOT NULL REFERENCES document(id) ON DELETE CASCADE,
    chunk_ids BLOB NOT NULL,
    vectors BLOB NOT NULL
);
CREATE TABLE corpus_version (number INTEGER NOT NULL);
INSERT INTO corpus_version VALUES (0);
CREATE TRIGGER vector_pack_added AFTER INSERT ON vector_pack BEGIN UPDATE corpus_version SET number = number + 1; END;
CREATE TRIGGER vector_pack_deleted AFTER DELETE ON vector_pack BEGIN UPDATE corpus_version SET number = number + 1; END;
CREATE TRIGGER scope_added AFTER INSERT ON collection_source BEGIN UPDATE corpus_version SET number = number + 1; END;
CREATE TRIGGER scope_deleted AFTER DELETE ON collection_source BEGIN UPDATE corpus_version SET number = number + 1; END;
CREATE TRIGGER scope_moved AFTER UPDATE OF document_id ON source
    BEGIN UPDATE corpus_version SET number = number + 1; END;
CREATE INDEX vector_pack_document ON vector_pack(document_id, space_id);
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY,
    space_id INTEGER NOT NULL,
    operation TEXT NOT NULL CHECK (operation IN ('add', 'delete')),
    pack_id INTEGER,
    chunk_ids BLOB NOT NULL
);
CREATE INDEX outbox_space ON outbox(space_id, id);
"""

_RUNS = """
CREATE TABLE session (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    mode TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE TABLE session_collection (
    session_id TEXT NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    collection_id INTEGER NOT NULL REFERENCES collection(id) ON DELETE CASCADE,
    PRIMARY KEY (session_id, collection_id)
) WITHOUT ROWID;
CREATE TABLE run (
    id TEXT PRIMARY KEY,
    session_id TEXT REFERENCES session(id) ON DELETE CASCADE,
    mode TEXT NOT NULL,
    question TEXT NOT NULL,
    model TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'finished', 'failed', 'cancelled')),
    started_at TEXT NOT NULL,
    finished_at TEXT,
    answer TEXT
);
CREATE INDEX run_started ON run(started_at);
CREATE INDEX run_session ON run(session_id);
CREATE TABLE message (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    run_id TEXT REFERENCES run(id) ON DELETE SET NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    data TEXT NOT NULL DEFAULT '{}',
    created_at TEXT NOT NULL
);
CREATE INDEX message_session ON message(session_id, id);
CREATE TABLE ledger (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX ledger_run ON ledger(run_id, id);
CREATE TRIGGER ledger_is_append_only BEFORE UPDATE ON ledger
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TABLE passage (
    run_id TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    source_id TEXT NOT NULL,
    source TEXT NOT NULL,
    document_id INTEGER NOT NULL REFERENCES document(id),
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    PRIMARY KEY (run_id, key)
) WITHOUT ROWID;
CREATE INDEX passage_document ON passage(document_id);
CREATE TABLE finding (
    id INTEGER PRIMARY KEY,
    session_id TEXT REFERENCES session(id) ON DELETE CASCADE,
    run_id TEXT,
    text TEXT NOT NULL,
    tags TEXT NOT NULL DEFAULT '[]',
    trust TEXT NOT NULL CHECK (trust IN ('user', 'model')),
    passages TEXT NOT NULL DEFAULT '[]',
    space_id INTEGER REFERENCES space(id) ON DELETE SET NULL,
    vector BLOB,
    created_at TEXT NOT NULL
);
CREATE INDEX finding_session ON finding(session_id, id);
CREATE TABLE endpoint (
    base_url TEXT NOT NULL,
    model_id TEXT NOT NULL,
    facts TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    PRIMARY KEY (base_url, model_id)
) WITHOUT ROWID;
"""


# Usage of model calls, as numbers alone: it outlives deleted runs and sessions, or deleting them would reset a day's
# limit. A trigger maintains it, so that every call in a ledger is counted here.
_COUNTED = """
    SELECT at, run_id,
           max(0, coalesce(json_extract(data, '$.prompt_tokens'), 0))
         + max(0, coalesce(json_extract(data, '$.completion_tokens'), 0)),
           max(0.0, json_extract(data, '$.cost_usd'))
"""
_SPENDING = f"""
CREATE TABLE spending (
    at TEXT NOT NULL,
    run_id TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    cost_usd REAL -- NULL where no price is known
);
CREATE INDEX spending_at ON spending(at);
CREATE INDEX spending_run ON spending(run_id);
INSERT INTO spending {_COUNTED} FROM ledger WHERE kind = 'called' AND json_valid(data) ORDER BY id;
CREATE TRIGGER ledger_is_counted AFTER INSERT ON ledger WHEN NEW.kind = 'called' AND json_valid(NEW.data) BEGIN
    INSERT INTO spending {_COUNTED} FROM (SELECT NEW.at AS at, NEW.run_id AS run_id, NEW.data AS data);
END;
"""


# Cached web addresses, by canonical address. Times are seconds since 1970. `links` belong to the text of `source_id`,
# and so does the `summary`; an address that could not be read has a `failure` instead. Vectors of single texts are
# stored by their hash, so that a repeated question embeds nothing.
_WEB = """
CREATE TABLE page (
    url TEXT PRIMARY KEY,
    source_id TEXT REFERENCES source(id) ON DELETE CASCADE,
    final_url TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    links TEXT NOT NULL DEFAULT '[]',
    is_cut INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    summary TEXT,
    failure TEXT,
    fetched_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    used_at REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX page_source ON page(source_id);
CREATE INDEX page_used ON page(used_at);
CREATE TABLE search (
    key TEXT PRIMARY KEY,
    results TEXT NOT NULL,
    expires_at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE text_vector (
    space_id INTEGER NOT NULL REFERENCES space(id) ON DELETE CASCADE,
    digest TEXT NOT NULL,
    vector BLOB NOT NULL,
    used_at REAL NOT NULL,
    PRIMARY KEY (space_id, digest)
) WITHOUT ROWID;
CREATE INDEX text_vector_used ON text_vector(used_at);
"""


# Conversation state beyond messages: `settings` is inherited by later turns of a session. The `trust` of a finding is
# the origin of its content: the user, local documents, or pages that anybody may have written. `step` holds a run's
# external inputs, in order and compressed: a run is resumed or replayed from it.
_CONVERSATIONS = """
ALTER TABLE session ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
CREATE TABLE finding_with_trust (
    id INTEGER PRIMARY KEY,
    session_id TEXT REFERENCES session(id) ON DELETE CASCADE,
    run_id TEXT,
    text TEXT NOT NULL,
    tags TEXT NOT NULL DEFAULT '[]',
    trust TEXT NOT NULL CHECK (trust IN ('user', 'local', 'web')),
    passages TEXT NOT NULL DEFAULT '[]',
    space_id INTEGER REFERENCES space(id) ON DELETE SET NULL,
    vector BLOB,
    created_at TEXT NOT NULL
);
INSERT INTO finding_with_trust
    SELECT id, session_id, run_id, text, tags, iif(trust = 'user', 'user', 'web'), passages, space_id, vector,
           created_at
    FROM finding;
DROP TABLE finding;
ALTER TABLE finding_with_trust RENAME TO finding;
CREATE INDEX finding_session ON finding(session_id, id);
CREATE TABLE step (
    run_id TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run_id, ordinal)
) WITHOUT ROWID;
"""


# The events that a run emitted, numbered from 1. `data` holds the fields of the event as JSON.
_EVENTS = """
CREATE TABLE event (
    run_id TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    name TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) WITHOUT ROWID;
"""


# What a file was read with: a file is read again when its reader has changed, although it has not. NULL: by a version
# that recorded none.
_READ_WITH = "ALTER TABLE source ADD COLUMN read_with TEXT"


# Indexes that hold how many vectors a pack has, so that counting them reads no pack. The stamp of a pack is a random
# number, given when it is stored: packs of one id in two copies of a store that have parted differ in it. 0 in packs of
# earlier versions.
_VECTOR_COUNTS = """
ALTER TABLE vector_pack ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0;
DROP INDEX vector_pack_document;
CREATE INDEX vector_pack_document ON vector_pack(document_id, space_id, id, length(chunk_ids));
CREATE INDEX vector_pack_space ON vector_pack(space_id, id, length(chunk_ids), stamp);
"""


# The paper library. A paper's title, authors and text are those of its content source. `paper_alias` has all names of a
# paper, such as `doi:10.5555/x`; `paper_file` the files that it was read from, as they were then.
_PAPERS = """
CREATE TABLE paper (
    id TEXT PRIMARY KEY,
    version INTEGER,
    doi TEXT,
    pmid TEXT,
    status TEXT NOT NULL,
    content_source TEXT NOT NULL REFERENCES source(id) ON DELETE CASCADE,
    summary_source TEXT REFERENCES source(id) ON DELETE SET NULL,
    added_at TEXT NOT NULL
);
CREATE INDEX paper_content ON paper(content_source);
CREATE INDEX paper_summary ON paper(summary_source);
CREATE TABLE paper_alias (
    key TEXT PRIMARY KEY,
    paper_id TEXT NOT NULL REFERENCES paper(id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX paper_alias_paper ON paper_alias(paper_id);
CREATE TABLE paper_file (
    path TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    content_sha256 TEXT NOT NULL,
    paper_id TEXT NOT NULL REFERENCES paper(id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX paper_file_paper ON paper_file(paper_id);
CREATE INDEX paper_file_content ON paper_file(content_sha256);
"""


# Notices on papers, such as retractions, in the order of their severity. `notices_checked_at` is when the registries
# that list them last answered, null if they never did: without notices, only a paper that has been checked is clean.
_NOTICES = """
ALTER TABLE paper ADD COLUMN notices_checked_at TEXT;
CREATE TABLE paper_notice (
    paper_id TEXT NOT NULL REFERENCES paper(id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    date TEXT,
    source TEXT NOT NULL,
    identifier TEXT
);
CREATE INDEX paper_notice_paper ON paper_notice(paper_id);
"""


# The links of a document to other notes, by their place in its text: see `NoteLink`.
_NOTE_LINKS = """
CREATE TABLE note_link (
    document_id INTEGER NOT NULL REFERENCES document(id) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    target TEXT NOT NULL,
    part TEXT NOT NULL,
    alias TEXT NOT NULL,
    is_embed INTEGER NOT NULL,
    PRIMARY KEY (document_id, start)
) WITHOUT ROWID
"""


# What became of sources, over all runs and after their removal. Of a run only the id is kept.
_SOURCE_RECORDS = """
CREATE TABLE access_failure (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    run_id TEXT,
    url TEXT NOT NULL,
    source_name TEXT NOT NULL,
    error_type TEXT NOT NULL,
    error_message TEXT NOT NULL
);
CREATE TABLE source_use (
    domain TEXT NOT NULL,
    source_name TEXT NOT NULL,
    queries INTEGER NOT NULL,
    results INTEGER NOT NULL,
    used INTEGER NOT NULL,
    new_facts INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    used_at TEXT NOT NULL,
    PRIMARY KEY (domain, source_name)
) WITHOUT ROWID;
"""


# What could not be read, for a question to many files of which few could not. The reason of a file with a text lists
# the parts that it was read without; earlier versions kept only the number of scanned pages, with its metadata.
_UNREAD = """
UPDATE source SET why = json_extract(metadata, '$.pages_scanned') || ' scanned pages: without text that can be read'
    WHERE verdict = 'indexed' AND json_valid(metadata) AND json_extract(metadata, '$.pages_scanned') IS NOT NULL;
CREATE INDEX source_unread ON source(uri) WHERE verdict <> 'indexed' OR why IS NOT NULL;
"""


# The names of sources: their titles, aliases and the names of their files, as words. `folded` is a name without regard
# to case, `head` its first two words.
_SOURCE_NAMES = """
CREATE TABLE source_name (
    folded TEXT NOT NULL,
    source_id TEXT NOT NULL REFERENCES source(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    head TEXT NOT NULL,
    words INTEGER NOT NULL,
    PRIMARY KEY (folded, source_id)
) WITHOUT ROWID;
CREATE INDEX source_name_source ON source_name(source_id);
CREATE INDEX source_name_head ON source_name(head, words);
"""


def _statements(script: str) -> list[str]:
    """Return the statements of `script`; a trigger's body stays with its trigger."""
    statements: list[str] = []
    pending = ""
    for line in script.splitlines():
        pending += line + "\n"
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements


def _first_schema(connection: sqlite3.Connection) -> None:
    for script in (_CORPUS, _VECTORS, _RUNS):
        for statement in _statements(script):
            connection.execute(statement)


def _spending(connection: sqlite3.Connection) -> None:
    for statement in _statements(_SPENDING):
        connection.execute(statement)


def _web(connection: sqlite3.Connection) -> None:
    for statement in _statements(_WEB):
        connection.execute(statement)


def _conversations(connection: sqlite3.Connection) -> None:
    for statement in _statements(_CONVERSATIONS):
        connection.execute(statement)


def _events(connection: sqlite3.Connection) -> None:
    for statement in _statements(_EVENTS):
        connection.execute(statement)


def _read_with(connection: sqlite3.Connection) -> None:
    connection.execute(_READ_WITH)


def _vector_counts(connection: sqlite3.Connection) -> None:
    for statement in _statements(_VECTOR_COUNTS):
        connection.execute(statement)


def _papers(connection: sqlite3.Connection) -> None:
    for statement in _statements(_PAPERS):
        connection.execute(statement)


def _notices(connection: sqlite3.Connection) -> None:
    for statement in _statements(_NOTICES):
        connection.execute(statement)


def _note_links(connection: sqlite3.Connection) -> None:
    connection.execute(_NOTE_LINKS)


def _source_records(connection: sqlite3.Connection) -> None:
    for statement in _statements(_SOURCE_RECORDS):
        connection.execute(statement)


def _source_names(connection: sqlite3.Connection) -> None:
    for statement in _statements(_SOURCE_NAMES):
        connection.execute(statement)
    fill_names(connection)


def _unread(connection: sqlite3.Connection) -> None:
    for statement in _statements(_UNREAD):
        connection.execute(statement)


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _first_schema,
    _spending,
    _web,
    _conversations,
    _events,
    _read_with,
    _vector_counts,
    _papers,
    _notices,
    _note_links,
    _source_records,
    _source_names,
    _unread,
)
