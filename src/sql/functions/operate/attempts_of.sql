-- The last attempts of each of these deliveries, in order. Index: attempts_pkey of one partition for each delivery.
create or replace function holdfast_internal.attempts_of(delivery_ids bigint[], max_per_delivery integer) returns setof holdfast_internal.attempts
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
begin
  return query
  select tried.* from unnest(delivery_ids) as asked (id)
  cross join lateral (
    select * from holdfast_internal.attempts as one where one.delivery_id = asked.id order by one.attempt desc, one.incarnation desc limit max_per_delivery
  ) as tried
  order by tried.delivery_id, tried.attempt, tried.incarnation;
end $$;
