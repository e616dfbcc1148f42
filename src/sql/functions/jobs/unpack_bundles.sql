-- Gives the runs of the first bundles with ordering keys rows of their own, which are set aside for their jobs; bundles of about 5,000 runs at a time.
-- `passed`: the cursor; a bundle behind it was committed late, and waits as a whole. Indexes: run_bundles_ordered, run_bundles_last_id_key.
create or replace function holdfast_internal.unpack_bundles(lane integer, passed bigint) returns void
language plpgsql as $$
declare
  max_bundles constant integer := 200;
  max_runs constant integer := 5000;
begin
  with oldest as (
    select bundle.*, sum(bundle.last_id - bundle.first_id + 1) over (order by bundle.last_id) as runs_until
    from (
      select * from holdfast_internal.run_bundles
      where lane_id = lane and ordering_keys is not null order by lane_id, last_id limit max_bundles
    ) as bundle
  ), chosen as materialized (
    select oldest.*, case when last_id <= passed then first_id else greatest(first_id, passed + 1) end as next_id
    from oldest where runs_until - (last_id - first_id + 1) < max_runs
  ), gone as (
    delete from holdfast_internal.run_bundles where last_id = any (array(select last_id from chosen))
  )
  insert into holdfast_internal.runs (id, published_by, lane_id, job_id, priority, due_at, is_aside, ordering_key)
  select run.id, chosen.published_by, lane, chosen.job_id, chosen.priority, 'infinity', true, run.key
  from chosen cross join lateral (
    select chosen.before_keys + listed.place as id, listed.key
    from unnest(chosen.ordering_keys) with ordinality as listed (key, place)
  ) as run
  where run.id >= chosen.next_id;
end $$;
