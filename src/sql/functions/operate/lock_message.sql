-- Prevents redrives, replays and retirement of a message while it is being erased. Refused if nothing of it is left.
create or replace function holdfast_internal.lock_message(message bigint, shown_id text) returns bigint
language plpgsql as $$
declare
  found_id bigint;
begin
  perform pg_advisory_xact_lock_shared(hashtext('holdfast.retire'));
  select stored.id into found_id from holdfast_internal.messages as stored where stored.id = message for update;
  select coalesce(found_id, kept.id) into found_id from (values (message)) as wanted (id) left join holdfast_internal.messages_kept as kept on kept.id = wanted.id;
  if found_id is null and cardinality(holdfast_internal.deliveries_of(message, 1)) = 0 then
    raise exception 'there is no message %', shown_id using errcode = 'HF012', hint = 'It may have been dropped with the archive of its month.';
  end if;
  return message;
end $$;
