create or replace function holdfast_internal.time_of_id(id bigint) returns timestamptz
language sql immutable parallel safe
return to_timestamp(((id >> 12) + 1704067200000) / 1000.0);
