-- Checks notifications that were sent at least this long ago: those that arrived are marked as delivered; those that are pending, dead or cancelled are returned
-- once, to be logged instead. Indexes: alert_notices_open, deliveries_pkey, dead_letters_delivery_id_key, attempts_pkey.
create or replace function holdfast_internal.follow_notices(patience_ms double precision) returns table (channel text, title text, text text, error text)
language sql as $$
  with sent as (
    select notice.id, (
      exists (select from holdfast_internal.deliveries as owed where owed.id = notice.message_id)
      or exists (select from holdfast_internal.dead_letters as letter where letter.delivery_id = notice.message_id and letter.state = 'open')
      or exists (select from holdfast_internal.attempts as ended where ended.delivery_id = notice.message_id and ended.outcome >= 10)
    ) as is_stuck
    from holdfast_internal.alert_notices as notice
    where notice.state = 'sent' and notice.at < clock_timestamp() - make_interval(secs => patience_ms / 1000)
    order by notice.id limit 1000
  ), followed as (
    update holdfast_internal.alert_notices as notice set state = case when sent.is_stuck then 'logged' else 'delivered' end
    from sent where notice.id = sent.id
    returning notice.channel, notice.title, notice.text, sent.is_stuck
  )
  select followed.channel, followed.title, followed.text, 'not delivered yet' from followed where is_stuck
$$;
