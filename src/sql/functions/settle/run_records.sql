create or replace function holdfast_internal.run_records(records jsonb)
returns table (
  id bigint, message bigint, claim bigint, lane integer, attempt integer, expected integer, outcome smallint, "ageMs" double precision,
  "durationMs" integer, "errorCode" text, error text, detail jsonb, action text, "delayMs" double precision, reason text, "isTried" boolean
)
language sql immutable as $$
  select * from jsonb_to_recordset(records) as r (
    id bigint, message bigint, claim bigint, lane integer, attempt integer, expected integer, outcome smallint, "ageMs" double precision,
    "durationMs" integer, "errorCode" text, error text, detail jsonb, action text, "delayMs" double precision, reason text, "isTried" boolean
  )
$$;
