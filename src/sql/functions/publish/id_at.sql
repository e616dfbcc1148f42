-- The first id of a time. Times have a wider range than ids: out-of-range times, and infinity, map to the first and the last year of ids.
create or replace function holdfast_internal.id_at(at timestamptz) returns bigint
language sql immutable parallel safe
return greatest(0, floor(extract(epoch from least(greatest(at, timestamptz '0001-01-01Z'), timestamptz '9999-12-31Z')) * 1000)::bigint - 1704067200000) * 4096;
