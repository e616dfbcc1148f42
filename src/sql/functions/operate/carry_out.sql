create or replace function holdfast_internal.carry_out(op holdfast_internal.operations, ids bigint[]) returns integer
language plpgsql as $$
begin
  return case op.kind
    when 'redrive' then (select count(*) from holdfast_internal.redrive_letters(ids, op.created_by, coalesce((op.options ->> 'isResend')::boolean, false)))
    when 'resolve' then holdfast_internal.settle_letters(ids, 'resolved', op.options ->> 'note', op.options ->> 'action', op.created_by)
    when 'discard' then holdfast_internal.settle_letters(ids, 'discarded', op.options ->> 'note', 'discard', op.created_by)
    when 'retry' then holdfast_internal.hurry_deliveries(ids)
    when 'cancel_runs' then holdfast_internal.cancel_runs(ids, coalesce(op.options ->> 'note', format('Cancelled by %s.', op.created_by)))
    when 'cancel' then holdfast_internal.cancel_owed(ids, coalesce(op.options ->> 'note', format('Cancelled by %s.', op.created_by)))
  end;
end $$;
