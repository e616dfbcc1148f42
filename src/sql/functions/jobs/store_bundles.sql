-- Stores plain runs, or runs that have only an ordering key (`keys`, one a run), as bundles, and their messages. Returns the ids as a set.
create or replace function holdfast_internal.store_bundles(
  job integer, job_name text, lane integer, run_priority integer, own_transaction xid8, bodies text[], keys text[]
) returns int8multirange
language plpgsql as $$
declare
  -- A claim reads the keys of a whole bundle, even if it takes one run of it.
  max_keys constant integer := 1000;
  drawn constant bigint[] := array(select nextval('holdfast_internal.ids') from unnest(bodies));
  -- Ids that other sessions drew in between separate two bundles; they are never inside one.
  drawn_ranges constant int8multirange := holdfast_internal.id_ranges(drawn);
begin
  insert into holdfast_internal.messages (id, size, is_run, type, body)
  select given.id, octet_length(given.body), true, job_name, given.body::json from unnest(drawn, bodies) as given (id, body);
  if keys is null then
    insert into holdfast_internal.run_bundles (lane_id, priority, first_id, last_id, job_id, published_by)
    select lane, run_priority, lower(part), upper(part) - 1, job, own_transaction from unnest(drawn_ranges) as part;
  else
    insert into holdfast_internal.run_bundles (lane_id, priority, first_id, last_id, job_id, published_by, ordering_keys, before_keys)
    select lane, run_priority, piece.first_id, piece.last_id, job, own_transaction, keys[piece.place : piece.place + piece.last_id - piece.first_id],
           piece.first_id - 1
    from (
      select first_id, least(first_id + max_keys, upper(part)) - 1 as last_id,
             -- How many of the runs have lower ids: ids ascend in the order of the bodies.
             width_bucket(first_id, drawn) as place
      from unnest(drawn_ranges) as part cross join generate_series(lower(part), upper(part) - 1, max_keys) as first_id
    ) as piece;
  end if;
  return drawn_ranges;
end $$;
