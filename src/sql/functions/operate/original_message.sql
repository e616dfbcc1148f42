-- The message of an id that a receiver may have seen: for a replay, the original message.
create or replace function holdfast_internal.original_message(seen bigint) returns bigint
language plpgsql stable as $$
begin
  if not holdfast_internal.is_replay(seen) then
    return seen;
  end if;
  return coalesce(
    (select message_id from holdfast_internal.deliveries where id = seen),
    (select message_id from holdfast_internal.attempts where delivery_id = seen limit 1),
    (select message_id from holdfast_internal.dead_letters where delivery_id = seen),
    seen
  );
end $$;
