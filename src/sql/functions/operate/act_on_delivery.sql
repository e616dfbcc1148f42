-- Acts on one delivery: true if it was done, false if it isn't pending (or, for a retry, was ready already).
create or replace function holdfast_internal.act_on_delivery(delivery_id text, kind text, note text default null, actor text default current_user) returns boolean
language plpgsql as $$
declare
  id bigint := holdfast.parse_id('dlv', delivery_id);
  touched integer := case kind
    when 'retry' then holdfast_internal.hurry_deliveries(array[id])
    when 'cancel' then holdfast_internal.cancel_owed(array[id], coalesce(note, format('Cancelled by %s.', actor))) end;
begin
  if touched > 0 then
    perform holdfast_internal.audit(actor, case kind when 'retry' then 'delivery.hurried' else 'delivery.cancelled' end, delivery_id,
                           jsonb_build_object('note', note));
  end if;
  return touched > 0;
end $$;
