-- The newest events before an id. State `unrouted` means that no route matched when it was published.
create or replace function holdfast_internal.find_events(
  filter jsonb, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  asked record := holdfast_internal.event_conditions(filter);
begin
  -- Bodies that outlived their partition are included, so that no pending delivery's event is missing.
  select looked.ids, looked.scanned_to into ids, scanned_to from holdfast_internal.look(format($query$
    with scanned as materialized (
      select id, type, tenant, correlation_id, ordering_key, is_unrouted, is_run, created_at from (
        (select id, type, tenant, correlation_id, ordering_key, is_unrouted, is_run, created_at from holdfast_internal.messages as message
         where %1$s order by %2$s limit $3)
        union all
        (select id, type, tenant, correlation_id, ordering_key, is_unrouted, is_run, created_at from holdfast_internal.messages_kept as message
         where %1$s order by %2$s limit $3)
      ) as every order by id desc limit $3
    )
    select array(select distinct message.id from scanned as message where %3$s order by message.id desc limit $2),
           (select min(id) from scanned having count(*) >= $3)
  $query$, asked.place, asked.ordered_by, asked.wide), least(before_id, asked.to_id), asked.from_id, max_rows, max_scanned) as looked;
end $$;
