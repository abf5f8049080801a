"""Rows of budgets and policies: `make bench WHAT=policies DATA=FOLDER JSON=FILE ONLY="ROW …"`."""
