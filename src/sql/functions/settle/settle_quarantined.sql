-- Stores a result that PostgreSQL refused before, as its node or worker would. A decision whose lease or claim has another owner by now changes nothing: that
-- owner decides.
create or replace function holdfast_internal.settle_quarantined(owner integer, result jsonb) returns void
language plpgsql as $$
declare
  id constant bigint := (result ->> 'id')::bigint;
begin
  if result ->> 'action' = 'succeed' then
    perform holdfast_internal.settle_run_successes(
      owner, array[id], int8multirange(int8range(id, id, '[]')), array[(result ->> 'claim')::bigint], array[(result ->> 'message')::bigint],
      array[(result ->> 'lane')::integer], array[(result ->> 'attempt')::integer], '{0}', array[coalesce((result ->> 'durationMs')::integer, 0)], '{}', '{}'
    );
  elsif result ? 'claim' then
    perform holdfast_internal.settle_run_failures(owner, jsonb_build_array(result || '{"ageMs": 0}'), '{}');
  elsif result ? 'action' then
    perform holdfast_internal.settle_failures(owner, 0, jsonb_build_array(result || '{"ageMs": 0}'), '[]');
  else
    perform holdfast_internal.settle_repeated_successes(
      owner, array[id], array[(result ->> 'message')::bigint], array[(result ->> 'lane')::integer], array[(result ->> 'route')::integer],
      array[(result ->> 'attempt')::integer], '{0}', array[(result ->> 'durationMs')::integer], array[(result ->> 'status')::integer]
    );
  end if;
end $$;
