-- The newest letters before an id, at most `max_scanned` looked at: `scanned_to` says where it stopped when there may be more.
create or replace function holdfast_internal.find_letters(
  filter jsonb, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  conditions record := holdfast_internal.letter_conditions(filter);
begin
  execute format($query$
    with scanned as materialized (
      select letter.* from holdfast_internal.dead_letters as letter
      where letter.id < $1 and %s order by letter.id desc limit $3
    ), matched as (
      select letter.id from scanned as letter %s where %s order by letter.id desc limit $2
    )
    select array(select id from matched), (select min(id) from scanned having count(*) = $3)
  $query$, conditions.narrow, case when conditions.asks_message then holdfast_internal.message_join('letter') end, conditions.wide)
  into ids, scanned_to using before_id, max_rows, case when conditions.wide = 'true' then max_rows else max_scanned end;
end $$;
