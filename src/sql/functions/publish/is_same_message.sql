-- Whether a stored message is equivalent to `body` (other spaces, another order of fields); false if it isn't stored any more.
create or replace function holdfast_internal.is_same_message(message bigint, prefix text, body text) returns boolean
language sql stable as $$
  select coalesce(
    (
      select prefix in ('', stored.type || ' ') and stored.body::jsonb = is_same_message.body::jsonb
      from (
        select archived.type, archived.body from holdfast_internal.messages as archived where archived.id = message
        union all
        select kept.type, kept.body from holdfast_internal.messages_kept as kept where kept.id = message
        limit 1
      ) as stored
    ),
    false
  )
$$;
