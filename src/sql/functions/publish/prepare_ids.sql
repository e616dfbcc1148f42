-- Call before ids are assigned. Functions that store single messages check the same in a statement of their own.
create or replace function holdfast_internal.prepare_ids() returns void
language plpgsql as $$
begin
  if (select life.last_value <> holdfast_internal.current_life() or holdfast_internal.id_at(clock_timestamp()) - ids.last_value > 4096 * 5000
      from holdfast_internal.ids cross join holdfast_internal.server_life as life) then
    perform holdfast_internal.advance_ids();
  end if;
end $$;
