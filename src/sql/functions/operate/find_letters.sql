-- The newest letters before an id.
create or replace function holdfast_internal.find_letters(
  filter jsonb, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  conditions record := holdfast_internal.letter_conditions(filter);
  -- A letter's id is assigned when it is created. The clock and the ids may differ by less than a day.
  from_id bigint := holdfast_internal.id_at(coalesce((filter ->> 'from')::timestamptz, '2024-01-02Z') - interval '1 day');
  to_id bigint := case when filter ->> 'to' is null then 9223372036854775807
    else holdfast_internal.id_at((filter ->> 'to')::timestamptz + interval '1 day') end;
begin
  select looked.ids, looked.scanned_to into ids, scanned_to from holdfast_internal.look(format($query$
    with scanned as materialized (%s), stop as materialized (%s)
    select array(
      select letter.id from scanned as letter %s where %s and letter.id >= coalesce((select at from stop), 0) order by letter.id desc limit $2
    ), (select at from stop)
  $query$, conditions.source, conditions.stop,
    case when conditions.asks_message then holdfast_internal.message_join('letter') end, conditions.everything),
    least(before_id, to_id), from_id, max_rows, max_scanned) as looked;
end $$;
