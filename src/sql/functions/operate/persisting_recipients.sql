-- Who waits for critical events that don't arrive: how many, since when, the oldest, and what its receiver last answered.
-- Indexes: dead_letters_critical, deliveries_critical, attempts_failed.
create or replace function holdfast_internal.persisting_recipients()
returns table (
  endpoint text, contact text, dead_letters bigint, overdue bigint, since timestamptz, oldest_message_id bigint, last_error text, last_error_at timestamptz
)
language sql stable as $$
  select endpoint.name, endpoint.contact, count(*) filter (where stuck.is_dead), count(*) filter (where not stuck.is_dead),
         min(stuck.since), (array_agg(stuck.message_id order by stuck.since, stuck.id))[1], failed.error, failed.started_at
  from (
    select lane_id, id, message_id, created_at as since, true as is_dead from holdfast_internal.dead_letters where criticality = 2 and settled_at is null
    union all
    select lane_id, id, message_id, coalesce(owed_at, holdfast_internal.time_of_id(id)), false from holdfast_internal.deliveries
    where criticality = 2 and coalesce(owed_at, holdfast_internal.time_of_id(id)) < now() - interval '1 hour' and dead_letter_id is null
  ) as stuck
  join holdfast_internal.endpoints as endpoint on endpoint.id = stuck.lane_id
  left join lateral (
    select error, started_at from holdfast_internal.attempts
    where lane_id = endpoint.id and outcome <> 1 and outcome < 10 order by delivery_id desc limit 1
  ) as failed on true
  group by endpoint.id, endpoint.name, endpoint.contact, failed.error, failed.started_at
  order by min(stuck.since)
$$;
