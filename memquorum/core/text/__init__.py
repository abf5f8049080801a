"""What two texts say, without a model: `agreement` compares them, `wording` holds the words that it goes by."""
