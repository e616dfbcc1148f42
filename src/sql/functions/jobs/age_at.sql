-- The time since which a run waits, on the scale of ids, so that it can be compared with ids: to the microsecond, because runs of the same
-- millisecond start in the order of their times.
create or replace function holdfast_internal.age_at(at timestamptz) returns bigint
-- Stable, because extract() is: PostgreSQL would not inline it if it were declared immutable, and a call that isn't inlined takes 10 µs.
language sql stable parallel safe
return greatest(0, floor((extract(epoch from least(greatest(at, timestamptz '0001-01-01Z'), timestamptz '9999-12-31Z')) * 1000 - 1704067200000) * 4096))::bigint;
