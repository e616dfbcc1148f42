-- Removes a message's payload for good, in all places where it is stored, and returns what it found. Also takes a replay's id, or that of a run. Refused while the message
-- is pending, unless forced: then its deliveries are cancelled. Data that an attempt in flight writes afterwards is removed by the task `erasures`.
create or replace function holdfast.erase_message(id text, reason text, force boolean default false, actor text default current_user) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  message bigint := case when erase_message.id like 'run\_%' then holdfast.parse_id('run', erase_message.id)
                         else holdfast_internal.original_message(holdfast.parse_id('msg', erase_message.id)) end;
  owed bigint[];
  letters bigint[];
  result jsonb;
begin
  actor := holdfast_internal.actor_of(actor);
  if coalesce(length(reason), 0) not between 1 and 1000 then
    raise exception 'erasing needs a reason of 1 to 1000 characters' using errcode = 'HF002', hint = 'It is stored in the audit log.';
  end if;
  message := holdfast_internal.lock_message(message, erase_message.id);
  owed := holdfast_internal.owed_of(message);
  if cardinality(owed) > 0 and not coalesce(force, false) then
    raise exception 'message % still has % unfinished deliveries or runs', erase_message.id, cardinality(owed) using errcode = 'HF006',
      hint = 'Wait until it is delivered, cancel its deliveries, or erase it with force, which cancels them.';
  end if;
  perform holdfast_internal.end_owed(message, owed, 'The message was erased.', actor);
  letters := array(select letter.id from holdfast_internal.dead_letters as letter where letter.message_id = message and letter.state = 'open');
  perform holdfast_internal.settle_letters(letters, 'erased', reason, 'erase', actor);
  perform holdfast_internal.scrub_message(message);
  result := jsonb_build_object('id', holdfast.format_id('msg', message), 'cancelled', cardinality(owed), 'deadLetters', cardinality(letters));
  perform holdfast_internal.audit(actor, 'event.erased', holdfast.format_id('msg', message), result - 'id' || jsonb_build_object('reason', reason));
  return result;
end $$;
