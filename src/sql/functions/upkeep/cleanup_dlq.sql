-- Removes letters past their retention, at most `max_rows`: settled ones dead_letter_retention_days (30) after their settlement; unsettled ones only
-- if unsettled_retention_days is set. Indexes: dead_letters_settled, dead_letters_state.
create or replace function holdfast.cleanup_dlq(max_rows integer default 10000) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  settled_days bigint := holdfast_internal.setting_integer('dead_letter_retention_days');
  unsettled_days bigint := holdfast_internal.setting_integer('unsettled_retention_days');
  removed integer;
  unsettled integer := 0;
  freed text[];
begin
  if max_rows is null or max_rows < 0 then
    raise exception 'max_rows must be 0 or more, not %', coalesce(max_rows::text, 'null') using errcode = '22023';
  end if;
  delete from holdfast_internal.dead_letters where id = any (array(
    select id from holdfast_internal.dead_letters
    where settled_at < now() - make_interval(days => settled_days::integer) order by settled_at limit max_rows for update skip locked
  ));
  get diagnostics removed = row_count;
  if unsettled_days > 0 and removed < max_rows then
    with old as materialized (
      select id from holdfast_internal.dead_letters
      where state = 'open' and created_at < now() - make_interval(days => unsettled_days::integer)
      order by id limit max_rows - removed for update skip locked
    ), gone as (
      delete from holdfast_internal.dead_letters as letter where letter.id = any (array(select id from old)) returning letter.lane_id, letter.ordering_key, letter.blocks_key
    )
    select count(*), array_agg(distinct lane_id || ' free ' || ordering_key) filter (where blocks_key) into unsettled, freed from gone;
    perform holdfast_internal.tell_nodes('holdfast_lanes', each) from unnest(freed) as each;
    if unsettled > 0 then
      perform holdfast_internal.audit('holdfast', 'dead_letters.unsettled_removed', 'dead_letters', jsonb_build_object('count', unsettled));
    end if;
  end if;
  return removed + unsettled;
end $$;
