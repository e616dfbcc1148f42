create or replace function holdfast_internal.create_operation(
  kind text, filter jsonb, options jsonb default '{}', rate double precision default null, seen_as_of text default null,
  actor text default current_user
) returns bigint
language plpgsql as $$
declare
  preview record;
  created bigint;
begin
  perform holdfast_internal.prepare_ids();
  actor := holdfast_internal.actor_of(actor);
  if rate is not null and not (rate > 0 and rate <= 1000000) then
    raise exception 'the rate must be above 0 and at most 1000000 rows per second, not %', rate using errcode = 'HF007';
  end if;
  preview := holdfast_internal.preview_operation_v2(kind, filter, options, seen_as_of);
  insert into holdfast_internal.operations (kind, filter, options, as_of, as_of_at, total, is_total_exact, rate_per_second, created_by)
  values (kind, jsonb_strip_nulls(filter), jsonb_strip_nulls(options), split_part(preview.as_of, '@', 1)::pg_snapshot, preview.as_of_at,
          preview.total, preview.is_exact, rate, actor)
  returning id into created;
  perform holdfast_internal.audit(actor, 'operation.created', holdfast.format_id('op', created),
                         jsonb_strip_nulls(jsonb_build_object('kind', kind, 'filter', filter, 'total', preview.total, 'reason', options ->> 'note')));
  perform holdfast_internal.notify('holdfast_operations', '');
  return created;
end $$;
