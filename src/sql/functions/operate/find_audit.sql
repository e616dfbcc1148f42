-- The newest entries of the audit log before an id. Conditions that the index doesn't cover are checked on the rows that it returns. Indexes:
-- audit_log_subject, audit_log_actor, audit_log_action, by row comparisons, so that no other index has their order, or audit_log_pkey.
create or replace function holdfast_internal.find_audit(
  filter jsonb, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  -- The first condition given: a subject has the fewest entries.
  field text := (select name from unnest(array['subject', 'actor', 'action']) with ordinality as known (name, place)
                 where filter ->> name is not null order by place limit 1);
begin
  select looked.ids, looked.scanned_to into ids, scanned_to from holdfast_internal.look(format($query$
    with scanned as materialized (select entry.* from holdfast_internal.audit_log as entry where %s limit $3),
    stop as materialized (select min(id) as at from scanned having count(*) >= $3)
    select array(select entry.id from scanned as entry where %s order by entry.id desc limit $2), (select at from stop)
  $query$,
    case when field is null then 'entry.id < $1 and entry.id >= $4 order by entry.id desc'
         else format('(entry.%1$s, entry.id) < (%2$L, $1) and (entry.%1$s, entry.id) >= (%2$L, $4) order by entry.%1$s desc, entry.id desc', field, filter ->> field) end,
    (select coalesce(string_agg(format('entry.%I = %L', key, value), ' and '), 'true') from jsonb_each_text(jsonb_strip_nulls(filter)))),
    before_id, 0, max_rows, max_scanned) as looked;
end $$;
