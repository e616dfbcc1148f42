create or replace function holdfast_internal.failure_records(records jsonb)
returns table (
  id bigint, message bigint, lane integer, epoch bigint, route integer, attempt integer, expected integer, outcome smallint,
  status smallint, "ageMs" double precision, "durationMs" integer, "errorCode" text, error text, detail jsonb, action text,
  "delayMs" double precision, reason text, "isProbe" boolean, "isCounted" boolean, "isTried" boolean, "blocksKey" boolean
)
language sql immutable as $$
  select * from jsonb_to_recordset(records) as r (
    id bigint, message bigint, lane integer, epoch bigint, route integer, attempt integer, expected integer, outcome smallint,
    status smallint, "ageMs" double precision, "durationMs" integer, "errorCode" text, error text, detail jsonb, action text,
    "delayMs" double precision, reason text, "isProbe" boolean, "isCounted" boolean, "isTried" boolean, "blocksKey" boolean
  )
$$;
