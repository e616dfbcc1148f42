-- How many of these runs, in their order, have bodies that fit into `max_bytes` together; at least one. Reads sizes, not bodies. Consecutive ids are
-- read as one range, as in read_bodies. Indexes: messages_pkey, messages_kept_pkey, runs_pkey.
create or replace function holdfast_internal.count_fitting(run_ids bigint[], max_bytes bigint) returns integer
language plpgsql stable as $$
declare
  read integer;
  total bigint;
begin
  select count(*), sum(message.size) into read, total
  from unnest(holdfast_internal.id_ranges(array(select id from unnest(run_ids) as id order by id))) as part
  cross join lateral (
    select stored.size from holdfast_internal.messages as stored where stored.id >= lower(part) and stored.id < upper(part)
    order by stored.id limit upper(part) - lower(part)
  ) as message;
  if read = cardinality(run_ids) and total <= max_bytes then
    return read;
  end if;
  return (
    select count(*) from (
      select listed.place, sum(message.size) over (order by listed.place) as bytes
      from unnest(run_ids) with ordinality as listed (id, place)
      left join lateral (select run.message_id from holdfast_internal.runs as run where run.id = listed.id limit 1) as own on true
      left join lateral (
        select stored.size from holdfast_internal.messages as stored where stored.id = coalesce(own.message_id, listed.id)
        union all
        select kept.size from holdfast_internal.messages_kept as kept where kept.id = coalesce(own.message_id, listed.id)
        limit 1
      ) as message on true
    ) as sized where sized.place = 1 or coalesce(sized.bytes, 0) <= max_bytes
  );
end $$;
