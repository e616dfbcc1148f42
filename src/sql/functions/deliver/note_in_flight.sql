-- Records which deliveries (or runs) are in flight at this node (or worker), and for how long. The commit doesn't wait for the disk.
create or replace function holdfast_internal.note_in_flight(me integer, ids bigint[], ages_ms double precision[]) returns void
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into holdfast_internal.in_flight as known (incarnation, ids, started_at)
  select me, note_in_flight.ids, array(
    select clock_timestamp() - make_interval(secs => age / 1000) from unnest(ages_ms) with ordinality as given (age, place) order by place
  )
  on conflict (incarnation) do update set ids = excluded.ids, started_at = excluded.started_at, noted_at = excluded.noted_at;
end $$;
