-- The messages of one correlation id, or null when they are too many to be named. Index: messages_correlation.
create or replace function holdfast_internal.correlated_messages(wanted text) returns bigint[]
language plpgsql stable as $$
declare
  ids bigint[] := array(
    select id from (
      select id from holdfast_internal.messages where correlation_id = wanted
      union all select id from holdfast_internal.messages_kept where correlation_id = wanted
    ) as every limit 1001
  );
begin
  return case when cardinality(ids) <= 1000 then ids end;
end $$;
