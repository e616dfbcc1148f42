-- Written before dispatch in careful mode. The crash that made the lane suspect counts as the first.
create or replace function holdfast_internal.record_suspects(me integer, delivery_ids bigint[], lanes integer[]) returns void
language sql as $$
  insert into holdfast_internal.suspects (delivery_id, lane_id, incarnation, crashes)
  select id, lane, me, 1 from unnest(delivery_ids, lanes) as dispatched (id, lane)
  on conflict (delivery_id) do update set incarnation = me
$$;
