-- Since when a run waits, as the number that an id of that time would have: to the microsecond, because runs of one millisecond start in the order of their times.
create or replace function holdfast_internal.age_at(at timestamptz) returns bigint
-- As stable as what it uses, or no statement would take it in: a call of its own takes 10 µs.
language sql stable parallel safe
return greatest(0, floor((extract(epoch from least(greatest(at, timestamptz '0001-01-01Z'), timestamptz '9999-12-31Z')) * 1000 - 1704067200000) * 4096))::bigint;
