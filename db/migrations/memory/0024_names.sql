-- Which memories of a namespace have names in their texts, or are linked to them: `place`, from 1, is which of the names.
-- As words_best, it looks as the reader, in a namespace that the caller sees, through that namespace's index of words where
-- it has one, and tells ids alone; what they name, row security shows or does not. `asked`: the words that full text looks
-- for, one behind another; `written`: what stands in the text, in any case where `any_case` says so. A name of stop words
-- alone, or one without words, is looked for in all texts, if it is the only one. `looked`: so many texts, the latest.
CREATE FUNCTION name_holders(
    of_namespace text, asked text[], written text[], any_case boolean[], looked integer
) RETURNS TABLE (place integer, id uuid)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100 SET search_path = public, pg_temp AS $$
DECLARE
    phrases tsquery[];
    every tsquery := ''::tsquery;
    one text;
BEGIN
    IF NOT tenant_sees(of_namespace) THEN
        RETURN;
    END IF;
    FOREACH one IN ARRAY asked LOOP
        phrases := phrases || phraseto_tsquery('pg_catalog.english', one);
        every := every || phrases[array_upper(phrases, 1)];
    END LOOP;
    IF numnode(every) = 0 AND array_length(asked, 1) > 1 THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format(
        'SELECT w.place::integer, f.memory_id
         FROM (
            SELECT c.memory_id, c.words, replace(c.body, E''\n'', '' '') AS body
            FROM memory m
            JOIN content c ON c.memory_id = m.id AND c.namespace = %1$L
            WHERE m.namespace = %1$L AND (%2$s)
            ORDER BY m.created DESC, m.id
            LIMIT $4
         ) f
         JOIN unnest($1, $2, $3) WITH ORDINALITY AS w (phrase, written, any_case, place)
            ON (f.words @@ w.phrase OR numnode($5) = 0)
            AND CASE WHEN w.any_case
                THEN strpos(lower(f.body COLLATE "default"), lower(w.written COLLATE "default")) > 0
                ELSE strpos(f.body, w.written) > 0 END
         UNION
         SELECT w.place::integer, c.memory_id
         FROM content c
         CROSS JOIN unnest(c.named) AS n (link)
         JOIN unnest($2) WITH ORDINALITY AS w (written, place)
            ON lower(substr(n.link, strpos(n.link, '' '') + 1) COLLATE "default") = lower(w.written COLLATE "default")
         WHERE c.namespace = %1$L AND c.named IS NOT NULL',
        of_namespace, CASE WHEN numnode(every) = 0 THEN 'true' ELSE 'c.words @@ $5' END
    ) USING phrases, written, any_case, looked, every;
END
$$;

GRANT CREATE ON SCHEMA public TO memquorum_reader;
ALTER FUNCTION name_holders(text, text[], text[], boolean[], integer) OWNER TO memquorum_reader;
REVOKE CREATE ON SCHEMA public FROM memquorum_reader;
REVOKE EXECUTE ON FUNCTION name_holders(text, text[], text[], boolean[], integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION name_holders(text, text[], text[], boolean[], integer) TO memquorum_tenant;
