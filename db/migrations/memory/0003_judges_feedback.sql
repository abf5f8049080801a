-- Who verifies reads what agents say of the memories that a task was given: where the task came to nothing that a text could
-- state, that is its evidence (SPEC E; decision 134).
CREATE POLICY verifier ON feedback FOR SELECT TO memquorum_verifier USING (true);
