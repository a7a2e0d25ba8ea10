"""The names of the migrations, so that a database that has them all is opened without more ado."""

MIGRATION_SET = "jitchat"
MIGRATION_TABLE = "_sqlite_migrations"
"""Where sqlite-utils notes what was applied."""
MIGRATIONS = (
    "001_cold_store",
    "002_hot_index",
    "003_windows",
    "004_kinds_of_turn",
    "005_model_lines",
    "006_forks",
    "007_replies",
    "008_models",
    "009_inspection",
    "010_rot",
    "011_vectors_in_rows",
    "012_told_by_providers",
    "013_screen_state",
)
