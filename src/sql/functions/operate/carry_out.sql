create or replace function holdfast_internal.carry_out(op holdfast_internal.operations, ids bigint[]) returns integer
language plpgsql as $$
declare
  redriven bigint[];
begin
  if op.kind = 'redrive' then
    redriven := array(select delivery_id from holdfast_internal.redrive_letters(ids, op.created_by, coalesce((op.options ->> 'isResend')::boolean, false)) order by 1);
    if redriven <> '{}' then
      insert into holdfast_internal.operation_deliveries (operation_id, ids) values (op.id, holdfast_internal.id_ranges(redriven));
    end if;
    return cardinality(redriven);
  end if;
  return case op.kind
    when 'resolve' then holdfast_internal.settle_letters(ids, 'resolved', op.options ->> 'note', op.options ->> 'action', op.created_by)
    when 'discard' then holdfast_internal.settle_letters(ids, 'discarded', op.options ->> 'note', 'discard', op.created_by)
    when 'retry' then holdfast_internal.hurry_deliveries(ids)
    when 'cancel_runs' then holdfast_internal.cancel_runs(ids, coalesce(op.options ->> 'note', format('Cancelled by %s.', op.created_by)))
    when 'cancel' then holdfast_internal.cancel_owed(ids, coalesce(op.options ->> 'note', format('Cancelled by %s.', op.created_by)))
  end;
end $$;
