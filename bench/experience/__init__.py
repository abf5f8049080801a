"""Rows of experience: `make bench WHAT=experience DATA=FOLDER JSON=FILE ONLY="ROW …"`."""
