-- A store of revision 0002, as Alembic made it for sqlite.
CREATE TABLE accounts (
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    house BOOLEAN NOT NULL,
    password TEXT,
    created DOUBLE NOT NULL,
    closed DOUBLE,
    balance BIGINT NOT NULL,
    skeleton TEXT,
    PRIMARY KEY (id),
    CONSTRAINT accounts_name UNIQUE (name, house),
    CONSTRAINT accounts_balance CHECK (house OR balance >= 0)
);
CREATE UNIQUE INDEX accounts_skeleton ON accounts (skeleton);
CREATE TABLE transfers (
    id INTEGER NOT NULL,
    "key" TEXT,
    time DOUBLE NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT transfers_key UNIQUE ("key")
);
CREATE TABLE journal (
    room TEXT NOT NULL,
    "table" TEXT NOT NULL,
    seq BIGINT NOT NULL,
    fact TEXT NOT NULL,
    time DOUBLE NOT NULL,
    PRIMARY KEY (room, "table", seq)
);
CREATE TABLE snapshots (
    room TEXT NOT NULL,
    "table" TEXT NOT NULL,
    seq BIGINT NOT NULL,
    state TEXT NOT NULL,
    time DOUBLE NOT NULL,
    PRIMARY KEY (room, "table")
);
CREATE TABLE hands (
    room TEXT NOT NULL,
    "table" TEXT NOT NULL,
    number BIGINT NOT NULL,
    time DOUBLE NOT NULL,
    players TEXT NOT NULL,
    record TEXT NOT NULL,
    summary TEXT NOT NULL,
    PRIMARY KEY (room, "table", number)
);
CREATE INDEX hands_time ON hands (time);
CREATE TABLE played (
    player TEXT NOT NULL,
    room TEXT NOT NULL,
    "table" TEXT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (player, room, "table", number)
) WITHOUT ROWID;
CREATE TABLE matches (
    id INTEGER NOT NULL,
    room TEXT NOT NULL,
    time DOUBLE NOT NULL,
    players TEXT NOT NULL,
    result TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE pulse (
    id INTEGER NOT NULL,
    time DOUBLE NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE entries (
    transfer BIGINT NOT NULL,
    account BIGINT NOT NULL,
    coins BIGINT NOT NULL,
    PRIMARY KEY (transfer, account),
    CONSTRAINT entries_transfer FOREIGN KEY(transfer) REFERENCES transfers (id),
    CONSTRAINT entries_account FOREIGN KEY(account) REFERENCES accounts (id)
) WITHOUT ROWID;
CREATE INDEX entries_statement ON entries (account, transfer);
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO alembic_version VALUES ('0002');
