-- Copies rows of a marked partition that are still needed. With `max_rows` a call checks that many and the next one continues there, so that a
-- million dead letters aren't collected again for each step; fewer returned means that the end was reached. Without it, all are checked. Returns how
-- many it checked.
create or replace function holdfast_internal.keep_needed(part text, max_rows integer default null) returns integer
language plpgsql as $$
declare
  retiring holdfast_internal.retiring_partitions := (select r from holdfast_internal.retiring_partitions as r where r.name = part);
  start bigint;
  needed bigint[];
begin
  if retiring.parent is distinct from 'messages' then
    return 0;
  end if;
  start := case when max_rows is null then null else (select position from holdfast_internal.keeper_rounds where name = 'retire ' || part) end;
  needed := array(select holdfast_internal.needed_messages(greatest(retiring.from_id, start), retiring.to_id, max_rows));
  perform holdfast_internal.copy_messages(array(
    select each from unnest(needed) as each
    where not exists (select from holdfast_internal.messages_kept as copy where copy.id = each)
      and exists (select from holdfast_internal.messages as message where message.id = each)
  ));
  if max_rows is not null then
    perform holdfast_internal.keep_position('retire ' || part, case when cardinality(needed) < max_rows then 0 else needed[max_rows] + 1 end);
  end if;
  return cardinality(needed);
end $$;
