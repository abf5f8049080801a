-- The vault: keys and nothing else, in a database and a backup of its own. Wrapped with AES-256-GCM by the key above.
CREATE TABLE subject_key (
    namespace text  NOT NULL,
    subject   text  NOT NULL,
    wrapped   bytea NOT NULL, -- by the master key
    PRIMARY KEY (namespace, subject)
);

-- A destroyed key keeps its row, without the key, so that no late record makes it again.
CREATE TABLE memory_key (
    memory_id    uuid  PRIMARY KEY,
    namespace    text  NOT NULL,
    subject      text  NOT NULL,
    wrapped      bytea,          -- by the subject's key; NULL once destroyed
    FOREIGN KEY (namespace, subject) REFERENCES subject_key (namespace, subject)
);
