create or replace function holdfast_internal.alert_changes(changes jsonb)
returns table (
  id bigint, rule text, kind text, severity text, subject text, state text, value double precision, threshold double precision,
  "sinceMs" double precision, "firedAtMs" double precision, "clearSinceMs" double precision, "noticedAtMs" double precision
)
language sql immutable as $$
  select * from jsonb_to_recordset(changes) as change (
    id bigint, rule text, kind text, severity text, subject text, state text, value double precision, threshold double precision,
    "sinceMs" double precision, "firedAtMs" double precision, "clearSinceMs" double precision, "noticedAtMs" double precision
  )
$$;
