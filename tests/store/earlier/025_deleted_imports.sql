-- Imported conversations that were deleted here, by a hash of their source and key: an import leaves them deleted.

CREATE TABLE deleted_imports (origin BLOB PRIMARY KEY) WITHOUT ROWID;
