-- The settings of an endpoint that are not from its preset, with their defaults; null: left out unless given. Generated from
-- src/core/endpoints/setting-fields.ts by `npm run schema`.
create or replace function holdfast_internal.endpoint_settings() returns table (name text, fallback jsonb)
language sql immutable parallel safe as $$
  values
    ('limits', '{"concurrency":64,"ratePerSecond":null,"maxPending":100000,"onFull":"dead_letter"}'::jsonb),
    ('autoDisable', '{"onGone":false,"threshold":null,"windowMs":3600000,"reenableAfterMs":null}'::jsonb),
    ('onDead', '"continue"'::jsonb)
$$;
