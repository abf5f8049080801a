-- The journal is read in SQL by decoding the bytes that the chain hashes, whenever somebody asks (decision 187). Nothing is
-- kept beside them, so nothing can differ from them.

-- Every schema of a record that was ever released, filled after the migrations. A reader needs it for the oldest entry, too.
CREATE TABLE record_schema (
    mark  bytea PRIMARY KEY, -- how each record of it begins: C3 01 and the schema's fingerprint
    name  text  NOT NULL,
    shape jsonb NOT NULL     -- what is needed of the schema to decode one (`shape` in db/migrate.py)
);
ALTER TABLE record_schema OWNER TO memquorum_owner;

-- What lies at `place` by a list of names and types in turn, as the text of JSON, and the place behind it. A name ends with
-- its colon. A type is null, boolean, long, bytes or string; with `?` before it, that or null; or a list that begins with
-- `record`, `array` or `union`.
CREATE FUNCTION record_value(shape jsonb, data bytea, nested boolean, INOUT place integer, OUT told text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
    separator text := '';
    kind text;
    number bigint;
    shift integer;
    byte integer;
    piece bytea;
    one record;
BEGIN
    told := '';
    FOR field IN 0 .. jsonb_array_length(shape) - 2 BY 2 LOOP
        told := told || separator || (shape ->> field);
        separator := ',';
        kind := shape ->> (field + 1);
        IF kind ^@ '?' THEN
            place := place + 1;
            IF get_byte(data, place - 1) = 0 THEN
                told := told || 'null';
                CONTINUE;
            END IF;
            kind := substr(kind, 2);
        ELSIF kind ^@ '[' THEN
            one := record_part(shape -> (field + 1), data, nested, place);
            place := one.place;
            told := told || one.told;
            CONTINUE;
        END IF;
        IF kind = 'boolean' THEN
            told := told || CASE get_byte(data, place) WHEN 0 THEN 'false' ELSE 'true' END;
            place := place + 1;
            CONTINUE;
        ELSIF kind = 'null' THEN
            told := told || 'null';
            CONTINUE;
        END IF;
        -- A number, or a length: seven bits a byte, the lowest first, the sign in the lowest of all.
        number := get_byte(data, place);
        place := place + 1;
        IF number >= 128 THEN
            number := number - 128;
            shift := 7;
            LOOP
                byte := get_byte(data, place);
                place := place + 1;
                number := number | ((byte & 127)::bigint << shift);
                EXIT WHEN byte < 128;
                shift := shift + 7;
            END LOOP;
        END IF;
        number := ((number >> 1) & 9223372036854775807) # (-(number & 1));
        IF kind = 'long' THEN
            told := told || number;
            CONTINUE;
        END IF;
        IF number < 0 OR place + number > length(data) THEN
            RAISE EXCEPTION 'a record that ends too early' USING ERRCODE = 'data_corrupted';
        END IF;
        piece := substring(data FROM place + 1 FOR number::integer);
        place := place + number::integer;
        IF kind = 'string' THEN
            told := told || to_json(convert_from(piece, 'UTF8'));
        ELSIF nested AND substring(piece FOR 2) = '\xc301' THEN
            told := told || coalesce(record_json(piece)::text, '"' || encode(piece, 'hex') || '"');
        ELSE
            told := told || '"' || encode(piece, 'hex') || '"';
        END IF;
    END LOOP;
END
$$;

-- The same of a record, an array or a union.
CREATE FUNCTION record_part(shape jsonb, data bytea, nested boolean, INOUT place integer, OUT told text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
    kind text := shape ->> 0;
    number bigint;
    one record;
BEGIN
    IF kind = 'record' THEN
        one := record_value(shape -> 1, data, nested, place);
        place := one.place;
        told := '{' || one.told || '}';
        RETURN;
    END IF;
    one := record_value('["", "long"]', data, nested, place);
    place := one.place;
    number := one.told;
    IF kind = 'union' THEN
        one := record_value(jsonb_build_array('', shape -> (number::integer + 1)), data, nested, place);
        place := one.place;
        told := one.told;
        RETURN;
    END IF;
    told := '';
    WHILE number <> 0 LOOP
        -- A negative count comes with the length of the block.
        IF number < 0 THEN
            one := record_value('["", "long"]', data, nested, place);
            place := one.place;
            number := -number;
        END IF;
        FOR item IN 1 .. number LOOP
            one := record_value(shape -> 1, data, nested, place);
            place := one.place;
            told := told || CASE told WHEN '' THEN '' ELSE ',' END || one.told;
        END LOOP;
        one := record_value('["", "long"]', data, nested, place);
        place := one.place;
        number := one.told;
    END LOOP;
    told := '[' || told || ']';
END
$$;

-- A record as JSON: its name as `record`, then its fields; bytes that are a record as that, others in hexadecimal digits. NULL:
-- the bytes are no record. `nested`: false leaves all bytes as they are, which is cheaper. Raises for a record that is cut.
CREATE FUNCTION record_json(data bytea, nested boolean DEFAULT true) RETURNS jsonb
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE COST 1000 AS $$
DECLARE
    -- Laid out flat once, or each byte of a compressed value would unpack all of it.
    flat bytea := data || ''::bytea;
    its_shape jsonb;
    one record;
BEGIN
    IF substring(flat FOR 2) <> '\xc301' THEN
        RETURN NULL;
    END IF;
    SELECT shape INTO its_shape FROM record_schema WHERE mark = substring(flat FOR 10);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    one := record_part(its_shape, flat, nested, 10);
    IF one.place <> length(flat) THEN
        RAISE EXCEPTION '% bytes after the end of a record', length(flat) - one.place USING ERRCODE = 'data_corrupted';
    END IF;
    RETURN one.told::jsonb;
END
$$;
ALTER FUNCTION record_value(jsonb, bytea, boolean, integer) OWNER TO memquorum_owner;
ALTER FUNCTION record_part(jsonb, bytea, boolean, integer) OWNER TO memquorum_owner;
ALTER FUNCTION record_json(bytea, boolean) OWNER TO memquorum_owner;

-- The journal with each entry beside what it says.
CREATE VIEW audit_journal AS
SELECT j.shard, j.seq, to_timestamp(j.as_of / 1000.0) AS at, j.effect, j.event_id, j.namespace, j.memory_id, j.source_topic,
       j.source_partition, j.source_offset, record_json(j.entry) AS decoded, j.entry, j.previous_hash, j.hash
FROM journal j;
ALTER VIEW audit_journal OWNER TO memquorum_owner;
ALTER VIEW audit_journal SET (security_invoker = true);
