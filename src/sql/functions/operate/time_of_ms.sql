create or replace function holdfast_internal.time_of_ms(ms double precision) returns timestamptz
language sql immutable return to_timestamp(ms / 1000);
