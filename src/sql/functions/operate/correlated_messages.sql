-- The messages of one correlation id, or null if there are too many. A run without one has the id of its message as its correlation id. Indexes:
-- messages_correlation, messages_pkey.
create or replace function holdfast_internal.correlated_messages(wanted text) returns bigint[]
language plpgsql stable as $$
declare
  own bigint := case when wanted ~ '^msg_[0-9a-hjkmnp-tv-z]{11}$' then holdfast.parse_id('msg', wanted) end;
  ids bigint[] := array(
    select id from (
      select id from holdfast_internal.messages where correlation_id = wanted
      union all select id from holdfast_internal.messages_kept where correlation_id = wanted
      union all select id from holdfast_internal.messages where id = own and is_run and correlation_id is null
      union all select id from holdfast_internal.messages_kept where id = own and is_run and correlation_id is null
    ) as every limit 1001
  );
begin
  return case when cardinality(ids) <= 1000 then ids end;
end $$;
