-- Keeps the endpoint that a route led to before: deliveries of that time stay pending there.
create or replace function holdfast_internal.note_redirect() returns trigger
language plpgsql as $$
declare
  max_lanes constant integer := 8;
begin
  new.former_lanes := case when cardinality(old.former_lanes) < max_lanes then array_append(array_remove(old.former_lanes, old.lane_id), old.lane_id) end;
  return new;
end $$;
