-- Redelivers these letters, in the order of their original deliveries. Letters that aren't open any more, or whose endpoint was deleted, are skipped:
-- if two sessions redrive the same letter, one of them does. The body isn't copied; the retry count, the expiry and the idempotency key are reset.
create or replace function holdfast_internal.redrive_letters(letter_ids bigint[], actor text, is_resend boolean default false)
returns table (letter_id bigint, delivery_id bigint)
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  open_ids bigint[];
  lanes integer[];
begin
  perform holdfast_internal.prepare_ids();
  -- In the order of ids, so that two bulk actions never deadlock.
  open_ids := array(
    select letter.id from holdfast_internal.dead_letters as letter
    where letter.id = any (letter_ids) and letter.state = 'open' order by letter.id for update
  );
  perform holdfast_internal.keep_bodies(array(select message_id from holdfast_internal.dead_letters where id = any (open_ids)));
  -- The transaction id comes before the ids: see accept.
  perform pg_current_xact_id();
  if holdfast_internal.id_at(clock_timestamp()) - (select last_value from holdfast_internal.ids) > 4096 * 5000 then
    perform holdfast_internal.advance_ids();
  end if;
  return query
  with numbered as materialized (
    select ordered.*, nextval('holdfast_internal.ids') as new_id from (
      -- With `offset 0`, because nodes run with sorts disabled, and would scan the index of all letters that has this order.
      select letter.*, message.size from (select * from holdfast_internal.dead_letters where id = any (open_ids) offset 0) as letter
      join holdfast_internal.endpoints as endpoint on endpoint.id = letter.lane_id
      cross join lateral (
        select size from holdfast_internal.messages where id = letter.message_id
        union all select size from holdfast_internal.messages_kept where id = letter.message_id limit 1
      ) as message
      order by letter.delivery_id
    ) as ordered
  ), owed as (
    insert into holdfast_internal.deliveries (id, message_id, lane_id, route_id, size, priority, criticality, variant, replay_id, dead_letter_id, ordering_key)
    -- At least standard, because a redrive isn't dropped without a dead letter.
    select new_id, message_id, lane_id, route_id, size, priority, greatest(criticality, 1), variant, replay_id, id, ordering_key from numbered
  )
  update holdfast_internal.dead_letters as letter set
    state = 'redriven', redrives = letter.redrives + 1, redriven_delivery_id = new_id, settled_by = actor,
    action = case when is_resend then 'resend' else 'redrive' end,
    resends = letter.resends + case when is_resend then 1 else 0 end,
    resent_at = case when is_resend then clock_timestamp() else letter.resent_at end
  from numbered where letter.id = numbered.id
  returning letter.id, letter.redriven_delivery_id;
  return query select * from holdfast_internal.redrive_runs(open_ids, actor, is_resend);
  lanes := array(select distinct lane_id from holdfast_internal.dead_letters where id = any (open_ids));
  perform holdfast_internal.ring(lanes);
end $$;
