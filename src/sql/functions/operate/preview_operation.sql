-- Like preview_operation_v2, for nodes of the previous version.
create or replace function holdfast_internal.preview_operation(
  kind text, filter jsonb, options jsonb default '{}', seen_as_of text default null, out total bigint, out as_of text, out as_of_at timestamptz
)
language plpgsql as $$
begin
  select preview.total, preview.as_of, preview.as_of_at into total, as_of, as_of_at
  from holdfast_internal.preview_operation_v2(kind, filter, options, seen_as_of) as preview;
end $$;
