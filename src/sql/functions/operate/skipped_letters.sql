-- The dead letters that an operation didn't change although its filter matched them when it was created: they were settled or redriven otherwise
-- since, or a redrive found no endpoint, queue or job to send them to. Newest first, as find_letters; none for operations on other items. When a
-- letter was redriven is known only from the id of the new delivery, which may be off by seconds: a letter that was redriven right before may be
-- listed. Indexes: see find_letters; operation_deliveries_pkey.
create or replace function holdfast_internal.skipped_letters(
  operation bigint, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  op holdfast_internal.operations;
  conditions record;
  is_skipped text;
begin
  select * into op from holdfast_internal.operations where id = operation and kind in ('redrive', 'resolve', 'discard');
  ids := '{}';
  if not found then
    return;
  end if;
  conditions := holdfast_internal.letter_conditions(op.filter - 'state');
  is_skipped := format($condition$
    letter.created_at <= %L::timestamptz and case
      when pg_visible_in_snapshot(letter.changed_xid, %L) then letter.state = 'open' and letter.delivery_id <= %s
      when letter.redriven_delivery_id <@ %L::int8multirange then false
      when letter.state = 'redriven' and letter.settled_at is null then true
      when letter.state in ('redriven', 'open') then coalesce(letter.redriven_delivery_id > %s, true)
      else not (letter.state = %L and letter.settled_by = %L and letter.settled_at >= %L::timestamptz and letter.settled_at <= %L::timestamptz
        and letter.note is not distinct from %L) end
  $condition$, op.as_of_at, op.as_of,
    -- Letters after the cursor are still to be processed, unless the operation has succeeded.
    case when op.kind <> 'redrive' then 0 when op.state = 'succeeded' then 9223372036854775807 else op.cursor end,
    coalesce((select range_agg(step.ids) from holdfast_internal.operation_deliveries as step where step.operation_id = op.id), '{}'),
    holdfast_internal.id_at(op.as_of_at - interval '10 seconds'),
    case op.kind when 'resolve' then 'resolved' when 'discard' then 'discarded' end, op.created_by,
    coalesce(op.started_at, 'infinity') - interval '1 minute', coalesce(op.finished_at, 'infinity'), op.options ->> 'note');
  select looked.ids, looked.scanned_to into ids, scanned_to from holdfast_internal.look(format($query$
    with scanned as materialized (%s), stop as materialized (%s)
    select array(
      select letter.id from scanned as letter %s where %s and %s and letter.id >= coalesce((select at from stop), 0) order by letter.id desc limit $2
    ), (select at from stop)
  $query$, conditions.source, conditions.stop,
    case when conditions.asks_message then holdfast_internal.message_join('letter') end, conditions.everything, is_skipped),
    before_id, 0, max_rows, max_scanned) as looked;
end $$;
