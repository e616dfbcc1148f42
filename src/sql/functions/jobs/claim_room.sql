-- How many runs the limits of the queue allow, and when they allow more.
create or replace function holdfast_internal.claim_room(
  lane integer, wanted integer, concurrency integer, rate_per_second double precision, former_tokens double precision, tokens_at timestamptz,
  looked_at timestamptz, out room integer, out limit_ms double precision, out tokens double precision
)
language plpgsql as $$
begin
  room := wanted;
  if concurrency is not null then
    room := least(room, concurrency - holdfast_internal.count_claimed(lane));
    limit_ms := 50;
  end if;
  if rate_per_second is not null then
    -- A token bucket that holds the tokens of one second, and at least one.
    tokens := least(
      greatest(rate_per_second, 1),
      coalesce(former_tokens, greatest(rate_per_second, 1)) + extract(epoch from looked_at - coalesce(tokens_at, looked_at)) * rate_per_second
    );
    if floor(tokens) < room then
      room := floor(tokens)::integer;
      limit_ms := greatest(1, (1 - tokens + room) / rate_per_second * 1000);
    end if;
  end if;
end $$;
