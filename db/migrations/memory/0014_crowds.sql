-- Namespaces of many memories are asked through indexes of their own, which `db/crowds.py` makes: near_… for vectors,
-- words_… for words (infra/decisions/0031). Row security lets no operator of full text into an index, for it might tell of
-- rows that are not to be seen. So these two look as the reader, in a namespace that the caller sees, and tell ids and
-- numbers alone; what they name, row security shows or does not.
DROP INDEX embedding_namespace;
CREATE INDEX embedding_namespace ON embedding (namespace, encoder);

CREATE FUNCTION tenant_sees(asked text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT asked = ANY (tenant_names()) OR asked ^@ ANY (tenant_beginnings())
$$;
ALTER FUNCTION tenant_sees(text) OWNER TO memquorum_owner;

-- How many memories of a namespace have each of the words.
CREATE FUNCTION word_holders(of_namespace text, asked text[]) RETURNS TABLE (word text, holders bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT tenant_sees(of_namespace) THEN
        RETURN;
    END IF;
    FOREACH word IN ARRAY asked LOOP
        -- The namespace stands in the text, so that the planner sees its index.
        EXECUTE format('SELECT count(*) FROM content WHERE namespace = %L AND words @@ $1', of_namespace)
            INTO holders USING word::tsquery;
        RETURN NEXT;
    END LOOP;
END
$$;

-- The memories whose words say most, of those that `sources` leads to, `looked` at most: the sum, over the words that a
-- memory has, of the word's weight times its `ts_rank` (0.61 for once, and 1 at most).
CREATE FUNCTION words_best(
    of_namespace text, sources text, asked text[], weights float8[], looked integer, depth integer
) RETURNS TABLE (id uuid, score numeric)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100 SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT tenant_sees(of_namespace) OR sources = '' THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format(
        'SELECT f.memory_id, round(sum(ts_rank(''{1,1,1,1}'', f.words, w.word) * w.weight)::numeric, 6) AS score
         FROM (SELECT memory_id, words FROM content WHERE namespace = %L AND words @@ $1 LIMIT $4) AS f
         JOIN unnest($2, $3) AS w (word, weight) ON f.words @@ w.word
         GROUP BY f.memory_id
         ORDER BY score DESC, f.memory_id
         LIMIT $5',
        of_namespace
    ) USING sources::tsquery, asked::tsquery[], weights, looked, depth;
END
$$;

GRANT CREATE ON SCHEMA public TO memquorum_reader;
ALTER FUNCTION word_holders(text, text[]) OWNER TO memquorum_reader;
ALTER FUNCTION words_best(text, text, text[], float8[], integer, integer) OWNER TO memquorum_reader;
REVOKE CREATE ON SCHEMA public FROM memquorum_reader;
REVOKE EXECUTE ON FUNCTION word_holders(text, text[]), words_best(text, text, text[], float8[], integer, integer)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION word_holders(text, text[]), words_best(text, text, text[], float8[], integer, integer)
    TO memquorum_tenant;
