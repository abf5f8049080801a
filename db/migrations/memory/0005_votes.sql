-- Outcomes and ballots come in the transaction of their decision, from the one writer, and nobody may change or delete
-- them; the audit holds each against its certificate. So the references said nothing new, and asking for each ballot's
-- outcome was a quarter of what it costs to apply a decision.
ALTER TABLE ballot DROP CONSTRAINT ballot_shard_epoch_position_fkey;
ALTER TABLE outcome DROP CONSTRAINT outcome_shard_epoch_fkey;
