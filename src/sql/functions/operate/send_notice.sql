-- Sends a notification to its channel's endpoint and records it. A failure (a full queue, an endpoint deleted manually)
-- must not undo the alert itself: then it has no message, and is logged instead.
create or replace function holdfast_internal.send_notice(channel_name text, notice_title text, notice_text text, payload jsonb) returns bigint
language plpgsql as $$
declare
  target text := (select endpoint from holdfast_internal.alert_channels where name = channel_name and is_enabled);
  message bigint;
  problem text;
begin
  perform holdfast_internal.prepare_ids();
  begin
    select id into message from holdfast_internal.accept_messages(target, array[payload::text], array[jsonb_build_object('type', 'holdfast.alert')]) as id;
  exception when others then
    problem := sqlerrm;
  end;
  insert into holdfast_internal.alert_notices (channel, title, text, message_id, state, error)
  values (channel_name, notice_title, notice_text, message, case when message is null then 'logged' else 'sent' end, problem);
  return message;
end $$;
