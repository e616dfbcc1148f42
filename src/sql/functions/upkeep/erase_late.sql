-- Removes data that was stored for messages erased within the last week: results of attempts in flight, or from a worker's journal. Index: audit_log_action.
create or replace function holdfast_internal.erase_late(max_messages integer) returns integer
language plpgsql as $$
declare
  found integer := 0;
  erased text;
begin
  for erased in
    select recent.subject from (
      select entry.subject, entry.at from holdfast_internal.audit_log as entry where entry.action = 'event.erased' order by entry.id desc limit max_messages
    ) as recent where recent.at > now() - interval '7 days'
  loop
    if holdfast_internal.scrub_message(holdfast.parse_id('msg', erased)) then
      found := found + 1;
    end if;
  end loop;
  return found;
end $$;
