-- Copies the bodies of these messages from a partition that is about to be dropped. Until the caller's transaction ends, no partition can be marked.
create or replace function holdfast_internal.keep_bodies(message_ids bigint[]) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
begin
  perform pg_advisory_xact_lock_shared(hashtext('holdfast.retire'));
  if not exists (select from holdfast_internal.retiring_partitions where parent = 'messages') then
    return 0;
  end if;
  return holdfast_internal.copy_messages(array(
    select wanted.id from unnest(message_ids) as wanted (id)
    join holdfast_internal.retiring_partitions as retiring on retiring.parent = 'messages' and wanted.id >= retiring.from_id and wanted.id < retiring.to_id
  ));
end $$;
