create or replace function holdfast_internal.id_at(at timestamptz) returns bigint
language sql immutable parallel safe
return greatest(0, floor(extract(epoch from at) * 1000)::bigint - 1704067200000) * 4096;
