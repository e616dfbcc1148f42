-- Copies the bodies of these messages that live in a partition about to go. Until the caller's transaction ends, no partition can be marked.
create or replace function holdfast_internal.keep_bodies(message_ids bigint[]) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  kept integer := 0;
begin
  perform pg_advisory_xact_lock_shared(hashtext('holdfast.retire'));
  if exists (select from holdfast_internal.retiring_partitions where parent = 'messages') then
    insert into holdfast_internal.messages_kept
    select message.* from unnest(message_ids) as wanted (id)
    join holdfast_internal.retiring_partitions as retiring on retiring.parent = 'messages' and wanted.id >= retiring.from_id and wanted.id < retiring.to_id
    join holdfast_internal.messages as message on message.id = wanted.id
    on conflict do nothing;
    get diagnostics kept = row_count;
  end if;
  return kept;
end $$;
