-- Runs of fair keys that wait for a time, a retry for example. When it has come, they join the line of their key.
create index runs_fair_due on holdfast_internal.runs (lane_id, due_at)
  where fair_key is not null and due_at < 'infinity' and claim_id is null and target is null and crashes = 0;
