-- Copies what is still needed of a marked partition, at most `max_rows`; returns how many bodies that were.
create or replace function holdfast_internal.keep_needed(part text, max_rows integer default null) returns integer
language plpgsql as $$
declare
  retiring holdfast_internal.retiring_partitions := (select r from holdfast_internal.retiring_partitions as r where r.name = part);
  kept integer := 0;
begin
  if retiring.parent = 'messages' then
    insert into holdfast_internal.messages_kept
    select message.* from holdfast_internal.needed_messages(retiring.from_id, retiring.to_id) as needed
    join holdfast_internal.messages as message on message.id = needed
    where not exists (select from holdfast_internal.messages_kept as copy where copy.id = needed)
    limit max_rows
    on conflict do nothing;
    get diagnostics kept = row_count;
  end if;
  return kept;
end $$;
