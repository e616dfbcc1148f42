-- Makes a waiting run due now. The id of a run that is being redriven stands for its redrive.
create or replace function holdfast_internal.hasten_run(run_id bigint, actor text default current_user) returns boolean
language plpgsql set enable_seqscan = off set jit = off as $$
declare
  lane integer;
  owed_id bigint := coalesce(
    (select id from holdfast_internal.runs where id = run_id),
    (select redrive.id from holdfast_internal.runs as redrive where redrive.message_id = run_id order by redrive.message_id limit 1)
  );
begin
  update holdfast_internal.runs set due_at = clock_timestamp() where id = owed_id and due_at > now() and claim_id is null returning lane_id into lane;
  if not found then
    return false;
  end if;
  perform holdfast_internal.audit(actor, 'run.hastened', holdfast.format_id('run', owed_id));
  perform holdfast_internal.ring_workers(lane);
  return true;
end $$;
