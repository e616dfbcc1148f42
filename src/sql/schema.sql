-- What the migrations make, by scripts/dump-schema.mjs. Not run by anything: read its diffs.
sequence audit_log_id_seq as bigint start 1 min 1
sequence ids as bigint start 1 min 1
sequence incarnations as integer start 1 min 1
sequence jobs_id_seq as integer start 1 min 1
sequence lanes as integer start 1 min 1
sequence notices_id_seq as bigint start 1 min 1
sequence quarantine_id_seq as bigint start 1 min 1
sequence routes_id_seq as integer start 1 min 1
sequence run_claims_seq as bigint start 1 min 1
sequence schedules_id_seq as integer start 1 min 1
table alert_channels
  name text not null
  kind text not null
  endpoint text
  is_enabled boolean not null default true
  created_at timestamp with time zone not null default now()
  constraint alert_channels_check CHECK (((kind = 'log'::text) = (endpoint IS NULL)))
  constraint alert_channels_kind_check CHECK ((kind = ANY (ARRAY['webhook'::text, 'slack'::text, 'email'::text, 'log'::text])))
  constraint alert_channels_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,39}$'::text))
  constraint alert_channels_pkey PRIMARY KEY (name)
table alert_notices
  id bigint not null default nextval('holdfast.ids'::regclass)
  at timestamp with time zone not null default clock_timestamp()
  channel text not null
  title text not null
  text text not null
  message_id bigint
  state text not null default 'sent'::text
  error text
  constraint alert_notices_pkey PRIMARY KEY (id)
  constraint alert_notices_state_check CHECK ((state = ANY (ARRAY['sent'::text, 'delivered'::text, 'logged'::text])))
  CREATE INDEX alert_notices_open ON holdfast.alert_notices USING btree (id) WHERE (state = 'sent'::text)
table alert_rules
  name text not null
  kind text not null
  severity text not null default 'warning'::text
  threshold double precision not null
  hold_ms double precision not null default 60000
  remind_ms double precision not null default 14400000
  clear_ms double precision not null default 300000
  quiet_ms double precision not null default 60000
  endpoint text
  tag text
  channels text[]
  is_enabled boolean not null default true
  silenced_until timestamp with time zone
  last_notice_at timestamp with time zone
  updated_at timestamp with time zone not null default now()
  constraint alert_rules_check CHECK (((endpoint IS NULL) OR (tag IS NULL)))
  constraint alert_rules_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'::text))
  constraint alert_rules_pkey PRIMARY KEY (name)
  constraint alert_rules_severity_check CHECK ((severity = ANY (ARRAY['warning'::text, 'critical'::text])))
table alerts with (fillfactor=70)
  id bigint not null default nextval('holdfast.ids'::regclass)
  rule text not null
  kind text not null
  severity text not null
  subject text not null
  state text not null
  value double precision not null
  threshold double precision not null
  since timestamp with time zone not null
  fired_at timestamp with time zone
  clear_since timestamp with time zone
  noticed_at timestamp with time zone
  resolved_at timestamp with time zone
  acknowledged_at timestamp with time zone
  acknowledged_by text
  note text
  silenced_until timestamp with time zone
  constraint alerts_pkey PRIMARY KEY (id)
  constraint alerts_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'firing'::text, 'resolved'::text])))
  CREATE INDEX alerts_resolved ON holdfast.alerts USING btree (resolved_at) WHERE (state = 'resolved'::text)
  CREATE UNIQUE INDEX alerts_open ON holdfast.alerts USING btree (rule, subject) WHERE (state <> 'resolved'::text)
table api_keys
  id text not null
  name text not null
  role text not null
  secret_hash bytea not null
  created_at timestamp with time zone not null default now()
  created_by text not null
  expires_at timestamp with time zone
  last_used_at timestamp with time zone
  revoked_at timestamp with time zone
  constraint api_keys_pkey PRIMARY KEY (id)
  constraint api_keys_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'publisher'::text, 'operator'::text, 'admin'::text])))
  CREATE UNIQUE INDEX api_keys_name ON holdfast.api_keys USING btree (name) WHERE (revoked_at IS NULL)
table api_results
  owner text not null
  key text not null
  request_hash bytea not null
  status smallint not null
  body text
  expires_at timestamp with time zone not null
  constraint api_results_pkey PRIMARY KEY (owner, key)
  CREATE INDEX api_results_expiry ON holdfast.api_results USING btree (expires_at)
table api_sessions
  token_hash bytea not null
  key_id text
  name text not null
  role text not null
  created_at timestamp with time zone not null default now()
  expires_at timestamp with time zone not null
  constraint api_sessions_key_id_fkey FOREIGN KEY (key_id) REFERENCES holdfast.api_keys(id)
  constraint api_sessions_pkey PRIMARY KEY (token_hash)
  CREATE INDEX api_sessions_expiry ON holdfast.api_sessions USING btree (expires_at)
table attempts partition by RANGE (delivery_id)
  delivery_id bigint not null
  message_id bigint not null
  started_at timestamp with time zone not null
  attempt integer not null
  incarnation integer not null
  lane_id integer not null
  route_id integer
  duration_ms integer
  outcome smallint not null
  status_code smallint
  is_probe boolean not null default false
  error_code text
  error text
  detail jsonb
  constraint attempts_pkey PRIMARY KEY (delivery_id, attempt, incarnation)
  CREATE INDEX attempts_ended ON ONLY holdfast.attempts USING btree (outcome, delivery_id) WHERE (outcome >= 10)
  CREATE INDEX attempts_failed ON ONLY holdfast.attempts USING btree (lane_id, delivery_id) WHERE (outcome <> 1)
  CREATE INDEX attempts_lane ON ONLY holdfast.attempts USING btree (lane_id, delivery_id)
  CREATE INDEX attempts_message ON ONLY holdfast.attempts USING btree (message_id) WHERE (message_id <> delivery_id)
table attempts_default partition DEFAULT
table audit_log
  id bigint not null generated always as identity
  at timestamp with time zone not null default now()
  actor text not null
  action text not null
  subject text not null
  detail jsonb not null default '{}'::jsonb
  constraint audit_log_pkey PRIMARY KEY (id)
  CREATE INDEX audit_log_action ON holdfast.audit_log USING btree (action, id)
  CREATE INDEX audit_log_actor ON holdfast.audit_log USING btree (actor, id)
  CREATE INDEX audit_log_losses ON holdfast.audit_log USING btree (at) WHERE (action = ANY (ARRAY['node.lost'::text, 'worker.lost'::text]))
  CREATE INDEX audit_log_subject ON holdfast.audit_log USING btree (subject, id)
table breakers with (fillfactor=70)
  lane_id integer not null
  version bigint not null default 1
  state text not null default 'closed'::text
  failures integer not null default 0
  permanents bigint[] not null default '{}'::bigint[]
  streak integer not null default 0
  streak_started_at timestamp with time zone
  opened_at timestamp with time zone
  probe_at timestamp with time zone
  probe_token text
  probe_expires_at timestamp with time zone
  held_until timestamp with time zone
  hold_reason text
  changed_xid xid8 not null default pg_current_xact_id()
  constraint breakers_pkey PRIMARY KEY (lane_id)
  constraint breakers_state_check CHECK ((state = ANY (ARRAY['closed'::text, 'open'::text, 'half_open'::text])))
  CREATE INDEX breakers_changed ON holdfast.breakers USING btree (changed_xid)
table dead_letters
  id bigint not null
  delivery_id bigint not null
  message_id bigint not null
  lane_id integer not null
  route_id integer
  state text not null default 'open'::text
  reason text not null
  outcome smallint not null
  status_code smallint
  error_code text
  error text
  criticality smallint not null
  priority smallint not null
  variant smallint not null default 0
  attempt integer not null
  attempts jsonb not null
  request jsonb
  ordering_key text
  concurrency_key text
  target text
  ttl_ms double precision
  blocks_key boolean not null default false
  redrives integer not null default 0
  redriven_delivery_id bigint
  replay_id bigint
  created_at timestamp with time zone not null default now()
  settled_at timestamp with time zone
  settled_by text
  note text
  action text
  fingerprint text default holdfast.error_fingerprint(reason, status_code, error_code, error)
  changed_xid xid8 not null default pg_current_xact_id()
  resends integer not null default 0
  resent_at timestamp with time zone
  constraint dead_letters_delivery_id_key UNIQUE (delivery_id)
  constraint dead_letters_pkey PRIMARY KEY (id)
  constraint dead_letters_state_check CHECK ((state = ANY (ARRAY['open'::text, 'redriven'::text, 'resolved'::text, 'discarded'::text])))
  CREATE INDEX dead_letters_blocking ON holdfast.dead_letters USING btree (ordering_key, lane_id, delivery_id) WHERE (blocks_key AND (settled_at IS NULL))
  CREATE INDEX dead_letters_critical ON holdfast.dead_letters USING btree (lane_id, id) WHERE ((criticality = 2) AND (settled_at IS NULL))
  CREATE INDEX dead_letters_fingerprint ON holdfast.dead_letters USING btree (fingerprint, id)
  CREATE INDEX dead_letters_lane ON holdfast.dead_letters USING btree (lane_id, state, id)
  CREATE INDEX dead_letters_lane_delivery ON holdfast.dead_letters USING btree (lane_id, delivery_id)
  CREATE INDEX dead_letters_lane_id ON holdfast.dead_letters USING btree (lane_id, id)
  CREATE INDEX dead_letters_message ON holdfast.dead_letters USING btree (message_id)
  CREATE INDEX dead_letters_open ON holdfast.dead_letters USING btree (delivery_id) WHERE (state = 'open'::text)
  CREATE INDEX dead_letters_redriven ON holdfast.dead_letters USING btree (redriven_delivery_id) WHERE (redriven_delivery_id IS NOT NULL)
  CREATE INDEX dead_letters_settled ON holdfast.dead_letters USING btree (settled_at) WHERE (settled_at IS NOT NULL)
  CREATE INDEX dead_letters_state ON holdfast.dead_letters USING btree (state, id)
  CREATE INDEX dead_letters_underway ON holdfast.dead_letters USING btree (id) WHERE ((state = 'redriven'::text) AND (settled_at IS NULL))
  CREATE TRIGGER dead_letters_note_change BEFORE UPDATE ON holdfast.dead_letters FOR EACH ROW EXECUTE FUNCTION holdfast.note_change()
table deliveries with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=10000)
  id bigint not null
  message_id bigint not null
  lane_id integer not null
  route_id integer
  attempt integer not null default 0
  uncounted integer not null default 0
  size integer not null
  priority smallint not null default 0
  criticality smallint not null default 1
  variant smallint not null default 0
  due_at timestamp with time zone
  expires_at timestamp with time zone
  owed_at timestamp with time zone
  dead_letter_id bigint
  replay_id bigint
  ordering_key text
  constraint deliveries_pkey PRIMARY KEY (id)
  constraint deliveries_priority_check CHECK (((priority >= 0) AND (priority <= 3)))
  CREATE INDEX deliveries_critical ON holdfast.deliveries USING btree (lane_id, id) WHERE (criticality = 2)
  CREATE INDEX deliveries_expiring ON holdfast.deliveries USING btree (lane_id, expires_at) WHERE (expires_at IS NOT NULL)
  CREATE INDEX deliveries_keyed ON holdfast.deliveries USING btree (ordering_key, lane_id, id) WHERE (ordering_key IS NOT NULL)
  CREATE INDEX deliveries_message ON holdfast.deliveries USING btree (message_id) WHERE (message_id <> id)
  CREATE INDEX deliveries_ready ON holdfast.deliveries USING btree (lane_id, priority, id)
  CREATE INDEX deliveries_scheduled ON holdfast.deliveries USING btree (lane_id, due_at) WHERE (due_at IS NOT NULL)
table endpoint_secrets
  lane_id integer not null
  field text not null
  version integer not null
  key_id text not null
  sealed bytea not null
  set_at timestamp with time zone not null default clock_timestamp()
  expires_at timestamp with time zone
  constraint endpoint_secrets_lane_id_fkey FOREIGN KEY (lane_id) REFERENCES holdfast.endpoints(id) ON DELETE CASCADE
  constraint endpoint_secrets_pkey PRIMARY KEY (lane_id, field, version)
  CREATE INDEX endpoint_secrets_expiry ON holdfast.endpoint_secrets USING btree (expires_at) WHERE (expires_at IS NOT NULL)
  CREATE INDEX endpoint_secrets_key ON holdfast.endpoint_secrets USING btree (key_id, lane_id, field, version)
table endpoints
  id integer not null default nextval('holdfast.lanes'::regclass)
  name text not null
  transport text not null
  tenant text
  tags text[] not null default '{}'::text[]
  contact text
  preset text not null default 'standard'::text
  config jsonb not null
  settings jsonb not null
  state text not null default 'active'::text
  state_reason text
  state_changed_at timestamp with time zone not null default now()
  reenable_at timestamp with time zone
  pauses jsonb not null default '[]'::jsonb
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  changed_xid xid8 not null default pg_current_xact_id()
  constraint endpoints_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'::text))
  constraint endpoints_name_key UNIQUE (name)
  constraint endpoints_pkey PRIMARY KEY (id)
  constraint endpoints_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'rejecting'::text, 'disabled'::text])))
  CREATE INDEX endpoints_changed ON holdfast.endpoints USING btree (changed_xid)
  CREATE INDEX endpoints_reenable ON holdfast.endpoints USING btree (reenable_at) WHERE (reenable_at IS NOT NULL)
  CREATE INDEX endpoints_shard ON holdfast.endpoints USING btree (((id & 255)))
  CREATE INDEX endpoints_tenant ON holdfast.endpoints USING btree (tenant) WHERE (tenant IS NOT NULL)
  CREATE TRIGGER endpoints_note_change BEFORE UPDATE ON holdfast.endpoints FOR EACH ROW EXECUTE FUNCTION holdfast.note_change()
table event_types
  name text not null
  description text
  schema jsonb
  criticality smallint
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  changed_xid xid8 not null default pg_current_xact_id()
  constraint event_types_name_check CHECK (((length(name) <= 255) AND (name ~ '^[A-Za-z0-9_][A-Za-z0-9_-]*([.][A-Za-z0-9_-]+)*$'::text)))
  constraint event_types_pkey PRIMARY KEY (name)
  CREATE INDEX event_types_changed ON holdfast.event_types USING btree (changed_xid)
table idempotency_keys
  scope text not null
  key text not null
  body_hash text not null
  result jsonb not null
  expires_at timestamp with time zone not null
  constraint idempotency_keys_pkey PRIMARY KEY (scope, key)
  CREATE INDEX idempotency_keys_expiry ON holdfast.idempotency_keys USING btree (expires_at)
  CREATE INDEX idempotency_keys_held ON holdfast.idempotency_keys USING btree ((((result ->> 0))::bigint)) WHERE (expires_at = 'infinity'::timestamp with time zone)
table jobs with (fillfactor=70)
  id integer not null generated always as identity
  name text not null
  queue_id integer not null
  former_queue_ids integer[] not null default '{}'::integer[]
  moved_at timestamp with time zone
  moved_by xid8
  unpark_from bigint
  defaults jsonb not null default '{}'::jsonb
  overrides jsonb not null default '{}'::jsonb
  settings jsonb not null default (defaults || overrides)
  state text not null default 'active'::text
  state_reason text
  state_changed_at timestamp with time zone not null default now()
  reenable_at timestamp with time zone
  streak integer not null default 0
  streak_started_at timestamp with time zone
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint jobs_name_check CHECK ((name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,126}$'::text))
  constraint jobs_name_key UNIQUE (name)
  constraint jobs_pkey PRIMARY KEY (id)
  constraint jobs_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES holdfast.queues(id)
  constraint jobs_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text])))
  CREATE INDEX jobs_inactive ON holdfast.jobs USING btree (queue_id) WHERE (state <> 'active'::text)
  CREATE INDEX jobs_queue ON holdfast.jobs USING btree (queue_id)
  CREATE INDEX jobs_reenable ON holdfast.jobs USING btree (reenable_at) WHERE (reenable_at IS NOT NULL)
  CREATE INDEX jobs_unparking ON holdfast.jobs USING btree (id) WHERE (unpark_from IS NOT NULL)
  CREATE TRIGGER jobs_note_move BEFORE UPDATE OF queue_id ON holdfast.jobs FOR EACH ROW WHEN ((old.queue_id <> new.queue_id)) EXECUTE FUNCTION holdfast.note_move()
table keeper_rounds with (fillfactor=50)
  name text not null
  next_at timestamp with time zone not null
  position bigint not null default 0
  constraint keeper_rounds_pkey PRIMARY KEY (name)
table lane_stats with (fillfactor=50)
  lane_id integer not null
  pending bigint not null default 0
  in_flight integer not null default 0
  oldest_due_at timestamp with time zone
  reported_at timestamp with time zone not null default now()
  constraint lane_stats_pkey PRIMARY KEY (lane_id)
table leadership
  is_only boolean not null default true
  term bigint not null default 0
  incarnation integer
  node text
  since timestamp with time zone
  constraint leadership_is_only_check CHECK (is_only)
  constraint leadership_pkey PRIMARY KEY (is_only)
table maintenance_tasks with (fillfactor=50)
  name text not null
  schedule jsonb not null
  next_run_at timestamp with time zone not null
  requested_at timestamp with time zone
  running_since timestamp with time zone
  term bigint
  node text
  last_started_at timestamp with time zone
  last_duration_ms integer
  last_succeeded_at timestamp with time zone
  last_failed_at timestamp with time zone
  last_error text
  failures integer not null default 0
  summary jsonb
  constraint maintenance_tasks_pkey PRIMARY KEY (name)
table messages partition by RANGE (id)
  id bigint not null
  created_at timestamp with time zone not null default now()
  criticality smallint not null default 1
  is_unrouted boolean not null default false
  needs_check boolean not null default false
  size integer not null
  is_run boolean not null default false
  type text
  tenant text
  correlation_id text
  ordering_key text
  headers jsonb
  metadata jsonb
  body json not null
  constraint messages_pkey PRIMARY KEY (id)
  CREATE INDEX messages_correlation ON ONLY holdfast.messages USING btree (correlation_id, id) WHERE (correlation_id IS NOT NULL)
  CREATE INDEX messages_unrouted ON ONLY holdfast.messages USING btree (id) WHERE is_unrouted
table messages_default partition DEFAULT
table messages_kept
  id bigint not null
  created_at timestamp with time zone not null default now()
  criticality smallint not null default 1
  is_unrouted boolean not null default false
  needs_check boolean not null default false
  size integer not null
  is_run boolean not null default false
  type text
  tenant text
  correlation_id text
  ordering_key text
  headers jsonb
  metadata jsonb
  body json not null
  constraint messages_kept_pkey PRIMARY KEY (id)
  CREATE INDEX messages_kept_correlation ON holdfast.messages_kept USING btree (correlation_id, id) WHERE (correlation_id IS NOT NULL)
  CREATE INDEX messages_kept_id_idx ON holdfast.messages_kept USING btree (id) WHERE is_unrouted
table migrations
  number integer not null
  name text not null
  checksum text not null
  applied_at timestamp with time zone not null default now()
  constraint migrations_pkey PRIMARY KEY (number)
table nodes with (fillfactor=50)
  incarnation integer not null
  name text not null
  version text not null
  beat bigint not null default 0
  is_asleep boolean not null default false
  is_stopping boolean not null default false
  pending bigint not null default 0
  settled_batch bigint not null default 0
  started_at timestamp with time zone not null default now()
  beat_at timestamp with time zone not null default now()
  constraint nodes_pkey PRIMARY KEY (incarnation)
table notices
  id bigint not null generated always as identity
  channel text not null
  payload text not null
  at timestamp with time zone not null default now()
  changed_xid xid8 not null default pg_current_xact_id()
  constraint notices_pkey PRIMARY KEY (id)
  CREATE INDEX notices_changed ON holdfast.notices USING btree (changed_xid, id)
table operations with (fillfactor=50)
  id bigint not null default nextval('holdfast.ids'::regclass)
  kind text not null
  filter jsonb not null
  options jsonb not null default '{}'::jsonb
  as_of pg_snapshot not null
  as_of_at timestamp with time zone not null
  state text not null default 'running'::text
  total bigint not null
  done bigint not null default 0
  skipped bigint not null default 0
  rate_per_second double precision
  cursor bigint not null default 0
  next_step_at timestamp with time zone not null default now()
  waiting text
  node text
  failures integer not null default 0
  error text
  created_by text not null
  created_at timestamp with time zone not null default now()
  started_at timestamp with time zone
  finished_at timestamp with time zone
  constraint operations_kind_check CHECK ((kind = ANY (ARRAY['redrive'::text, 'resolve'::text, 'discard'::text, 'replay'::text, 'retry'::text, 'cancel'::text])))
  constraint operations_pkey PRIMARY KEY (id)
  constraint operations_state_check CHECK ((state = ANY (ARRAY['running'::text, 'paused'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text])))
  CREATE INDEX operations_due ON holdfast.operations USING btree (next_step_at) WHERE (state = 'running'::text)
table quarantine
  id bigint not null generated always as identity
  at timestamp with time zone not null default now()
  delivery_id bigint not null
  lane_id integer not null
  incarnation integer not null
  record jsonb not null
  error text not null
  constraint quarantine_pkey PRIMARY KEY (id)
table queue_cursors
  lane_id integer not null
  seq bigint not null
  cursors bigint[] not null
  floors timestamp with time zone[] not null
  horizon bigint not null
  gap_xids xid8[] not null
  gap_ids bigint[] not null
  gap_floors timestamp with time zone[] not null
  tokens double precision
  tokens_at timestamp with time zone
  constraint queue_cursors_pkey PRIMARY KEY (lane_id, seq)
table queues
  id integer not null default nextval('holdfast.lanes'::regclass)
  name text not null
  concurrency integer
  rate_per_second double precision
  state text not null default 'active'::text
  state_reason text
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint queues_concurrency_check CHECK (((concurrency >= 1) AND (concurrency <= 100000)))
  constraint queues_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'::text))
  constraint queues_name_key UNIQUE (name)
  constraint queues_pkey PRIMARY KEY (id)
  constraint queues_rate_per_second_check CHECK ((rate_per_second > (0)::double precision))
  constraint queues_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text])))
table replays
  ids int8multirange not null
  operation_id bigint
  created_at timestamp with time zone not null default now()
  CREATE INDEX replays_age ON holdfast.replays USING btree (created_at)
  CREATE INDEX replays_ids ON holdfast.replays USING gist (ids)
table retiring_partitions
  name text not null
  parent text not null
  from_id bigint not null
  to_id bigint not null
  marked_at timestamp with time zone not null default now()
  constraint retiring_partitions_pkey PRIMARY KEY (name)
table rollup_flushes with (fillfactor=50)
  incarnation integer not null
  flush bigint not null
  constraint rollup_flushes_pkey PRIMARY KEY (incarnation)
table rollups with (fillfactor=70)
  lane_id integer not null
  period smallint not null
  starts_at timestamp with time zone not null
  attempts bigint not null
  successes bigint not null
  throttled bigint not null
  durations integer[] not null
  answers jsonb not null
  constraint rollups_period_check CHECK (((period >= 1) AND (period <= 3)))
  constraint rollups_pkey PRIMARY KEY (lane_id, period, starts_at)
  CREATE INDEX rollups_age ON holdfast.rollups USING btree (period, starts_at)
table routes
  id integer not null generated always as identity
  name text not null
  tenant text
  event_type text not null
  exact_type text
  like_pattern text
  segments integer
  regex text
  filter jsonpath
  filter_text text
  transform jsonb
  lane_id integer not null
  criticality smallint
  enabled boolean not null default true
  is_shorthand boolean not null default false
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  changed_xid xid8 not null default pg_current_xact_id()
  constraint routes_check CHECK ((num_nonnulls(exact_type, like_pattern, regex) = 1))
  constraint routes_lane_id_fkey FOREIGN KEY (lane_id) REFERENCES holdfast.endpoints(id)
  constraint routes_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9._:-]{0,126}$'::text))
  constraint routes_name_key UNIQUE (name)
  constraint routes_pkey PRIMARY KEY (id)
  CREATE INDEX routes_changed ON holdfast.routes USING btree (changed_xid)
  CREATE INDEX routes_exact ON holdfast.routes USING btree (COALESCE(tenant, ''::text), exact_type) WHERE (enabled AND (exact_type IS NOT NULL))
  CREATE INDEX routes_lane ON holdfast.routes USING btree (lane_id)
  CREATE INDEX routes_pattern ON holdfast.routes USING btree (COALESCE(tenant, ''::text)) WHERE (enabled AND (exact_type IS NULL))
table run_bundles
  lane_id integer not null
  priority smallint not null
  last_id bigint not null
  first_id bigint not null
  job_id integer not null
  published_by xid8 not null
  constraint run_bundles_last_id_key UNIQUE (last_id)
  constraint run_bundles_pkey PRIMARY KEY (lane_id, priority, last_id)
  constraint run_bundles_priority_check CHECK (((priority >= 0) AND (priority <= 3)))
table run_cancellations
  run_id bigint not null
  worker integer not null
  reason text
  requested_at timestamp with time zone not null default now()
  constraint run_cancellations_pkey PRIMARY KEY (run_id)
  CREATE INDEX run_cancellations_worker ON holdfast.run_cancellations USING btree (worker)
table run_claims
  id bigint not null
  lane_id integer not null
  worker integer not null
  request bigint not null default 0
  claimed_at timestamp with time zone not null default clock_timestamp()
  run_ids bigint[] not null
  bundled int8multirange not null default '{}'::int8multirange
  constraint run_claims_pkey PRIMARY KEY (id)
  CREATE INDEX run_claims_lane ON holdfast.run_claims USING btree (lane_id)
  CREATE INDEX run_claims_worker ON holdfast.run_claims USING btree (worker)
table run_progress with (fillfactor=50)
  run_id bigint not null
  attempt integer not null
  worker integer not null
  progress jsonb
  logs jsonb not null default '[]'::jsonb
  updated_at timestamp with time zone not null default now()
  constraint run_progress_pkey PRIMARY KEY (run_id)
table runs with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=10000)
  id bigint not null
  published_by xid8 not null default pg_current_xact_id()
  lane_id integer not null
  job_id integer not null
  attempt integer not null default 0
  crashes smallint not null default 0
  priority smallint not null default 0
  criticality smallint not null default 1
  message_id bigint
  claim_id bigint
  due_at timestamp with time zone
  expires_at timestamp with time zone
  ttl_at timestamp with time zone
  ttl_ms double precision
  dead_letter_id bigint
  ordering_key text
  concurrency_key text
  target text
  constraint runs_pkey PRIMARY KEY (id)
  constraint runs_priority_check CHECK (((priority >= 0) AND (priority <= 3)))
  CREATE INDEX runs_concurrent ON holdfast.runs USING btree (concurrency_key, lane_id, claim_id, id) WHERE (concurrency_key IS NOT NULL)
  CREATE INDEX runs_due ON holdfast.runs USING btree (lane_id, priority, due_at) WHERE ((due_at IS NOT NULL) AND (target IS NULL) AND (crashes = 0))
  CREATE INDEX runs_expiring ON holdfast.runs USING btree (expires_at) WHERE (expires_at IS NOT NULL)
  CREATE INDEX runs_fresh ON holdfast.runs USING btree (lane_id, priority, id) WHERE (due_at IS NULL)
  CREATE INDEX runs_ordered ON holdfast.runs USING btree (ordering_key, lane_id, id) WHERE (ordering_key IS NOT NULL)
  CREATE INDEX runs_ordered_out ON holdfast.runs USING btree (ordering_key, lane_id) WHERE ((ordering_key IS NOT NULL) AND (claim_id IS NOT NULL))
  CREATE INDEX runs_parked ON holdfast.runs USING btree (id) WHERE ((due_at = 'infinity'::timestamp with time zone) AND (claim_id IS NULL))
  CREATE INDEX runs_suspect ON holdfast.runs USING btree (lane_id, priority DESC, due_at) WHERE ((due_at IS NOT NULL) AND (crashes > 0))
  CREATE INDEX runs_targeted ON holdfast.runs USING btree (lane_id, target, due_at) WHERE (target IS NOT NULL)
  CREATE INDEX runs_ttl ON holdfast.runs USING btree (ttl_at) WHERE (ttl_at IS NOT NULL)
table schedules with (fillfactor=70)
  id integer not null generated always as identity
  name text not null
  job_id integer not null
  cron text
  timezone text not null default 'UTC'::text
  every_ms bigint
  run_at timestamp with time zone
  payload json not null default 'null'::json
  options jsonb
  overlap text not null default 'skip'::text
  catch_up text not null default 'one'::text
  is_paused boolean not null default false
  pause_reason text
  next_at timestamp with time zone
  last_at timestamp with time zone
  last_run_id bigint
  fired bigint not null default 0
  skipped bigint not null default 0
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  constraint schedules_catch_up_check CHECK ((catch_up = ANY (ARRAY['one'::text, 'all'::text, 'none'::text])))
  constraint schedules_check CHECK ((num_nonnulls(cron, every_ms, run_at) = 1))
  constraint schedules_every_ms_check CHECK ((every_ms >= 1000))
  constraint schedules_job_id_fkey FOREIGN KEY (job_id) REFERENCES holdfast.jobs(id)
  constraint schedules_name_check CHECK ((name ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,126}$'::text))
  constraint schedules_name_key UNIQUE (name)
  constraint schedules_overlap_check CHECK ((overlap = ANY (ARRAY['skip'::text, 'queue'::text, 'allow'::text])))
  constraint schedules_pkey PRIMARY KEY (id)
  CREATE INDEX schedules_due ON holdfast.schedules USING btree (next_at) WHERE ((next_at IS NOT NULL) AND (NOT is_paused))
  CREATE INDEX schedules_job ON holdfast.schedules USING btree (job_id)
table settings
  name text not null
  value jsonb not null
  constraint settings_pkey PRIMARY KEY (name)
table shard_leases with (fillfactor=50)
  shard smallint not null
  incarnation integer
  epoch bigint not null default 0
  is_suspect boolean not null default false
  constraint shard_leases_pkey PRIMARY KEY (shard)
  constraint shard_leases_shard_check CHECK (((shard >= 0) AND (shard <= 255)))
table sign_in_links
  token_hash bytea not null
  expires_at timestamp with time zone not null
  constraint sign_in_links_pkey PRIMARY KEY (token_hash)
table suspects
  delivery_id bigint not null
  lane_id integer not null
  incarnation integer
  crashes integer not null
  constraint suspects_pkey PRIMARY KEY (delivery_id)
  CREATE INDEX suspects_lane ON holdfast.suspects USING btree (lane_id)
table workers with (fillfactor=50)
  incarnation integer not null
  name text not null
  version text not null
  host text not null
  pid integer not null
  lanes integer[] not null
  tags text[] not null default '{}'::text[]
  concurrency integer not null
  lease_ms integer not null
  beat bigint not null default 0
  is_asleep boolean not null default false
  state text not null default 'active'::text
  running integer not null default 0
  min_request bigint not null default 0
  started_at timestamp with time zone not null default now()
  beat_at timestamp with time zone not null default now()
  constraint workers_pkey PRIMARY KEY (incarnation)
  constraint workers_state_check CHECK ((state = ANY (ARRAY['active'::text, 'draining'::text, 'stopping'::text])))
view owed_runs md5 cab0236e3b427dde9064b2cf53e1b9d2
view waiting_bundles md5 6291a57b02c85c79338df4f608c8bbde
function abandon_probe(lane integer, token text) returns void language sql md5 74dfa8265e35d93970c4213774c549b2
function accept(endpoint_name text, bodies text[], message_options jsonb[], publisher integer, OUT ids bigint[], OUT lane integer, OUT is_publishers boolean) returns record language plpgsql md5 230023f16c026ecfc2c5b526d6047af0
function accept_claimed_run(job_name text, body text, me integer, request bigint, OUT run bigint, OUT claim bigint, OUT job integer, OUT lane integer) returns record language plpgsql md5 0e1b6b2cd8dda17fefeaadb83d51351f
function accept_events(event_types text[], bodies text[], message_options jsonb[] DEFAULT NULL::jsonb[], are_checked boolean DEFAULT false) returns TABLE(message_id bigint, deliveries integer, held integer) language plpgsql md5 2f0bad27242b072b4e11c4d7a740e687
function accept_lines(endpoint_name text, lines text, message_options jsonb[] DEFAULT NULL::jsonb[]) returns text language plpgsql md5 2e999cc13b5c3438e26067fc2840b74b
function accept_messages(endpoint_name text, bodies text[], message_options jsonb[] DEFAULT NULL::jsonb[]) returns SETOF bigint language plpgsql md5 1c3f1c8f42a1b4f4235b7b2d51fa50fa
function accept_run_bodies(job_name text, bodies text[], run_options jsonb[], OUT ids bigint[], OUT run_set int8multirange) returns record language plpgsql md5 cc96761c18ba0202cb775c651c0605ee
function accept_run_lines(job_name text, lines text, run_options jsonb[] DEFAULT NULL::jsonb[]) returns text language sql md5 fa2c82d557cbaa1074409534b8cc9ecc
function accept_runs(job_name text, bodies text[], run_options jsonb[] DEFAULT NULL::jsonb[]) returns SETOF bigint language sql md5 6abbf706720eff1c9a505ba3206d572b
function accept_runs_with_options(job integer, job_name text, lane integer, settings jsonb, bodies text[], run_options jsonb[]) returns bigint[] language plpgsql md5 38461c2195ba9c6fe596dbc87058e1a8
function accept_with_options(lane integer, lane_tenant text, bodies text[], message_options jsonb[], room bigint) returns SETOF bigint language plpgsql md5 9f0322e7df218726390ac6b436a6285d
function acknowledge_alert(alert_id bigint, actor text, remark text) returns boolean language plpgsql md5 2f21bf4f09245060e958c6c2e59ddb14
function act_on_delivery(delivery_id text, kind text, note text DEFAULT NULL::text, actor text DEFAULT CURRENT_USER) returns boolean language plpgsql md5 4155de50ffda82379af7f6bda747d0f4
function add_answers(first jsonb, second jsonb) returns jsonb language sql immutable parallel safe md5 58ffab4ec7c8cd114a63a7e928292ea5
function add_counts(first integer[], second integer[]) returns integer[] language sql immutable parallel safe md5 3d44a87debb7e1bf661e3432bf015969
function add_rollups(me integer, flush_number bigint, counted jsonb) returns boolean language plpgsql md5 9457f961202546a2929baadd882a0ac1
function advance_ids() returns boolean language plpgsql set search_path=pg_catalog md5 eee16460db6f662c8296a769ded288a4
function alert_changes(changes jsonb) returns TABLE(id bigint, rule text, kind text, severity text, subject text, state text, value double precision, threshold double precision, "sinceMs" double precision, "firedAtMs" double precision, "clearSinceMs" double precision, "noticedAtMs" double precision) language sql immutable md5 85b12fa5496247c234a8b9df0765e73a
function alert_findings(kind text, threshold double precision, only_endpoint text, only_tag text) returns TABLE(subject text, value double precision) language plpgsql stable md5 69a24f20bdd55d0b8533d13e1d65fe23
function assert_leader(me integer, my_term bigint) returns void language plpgsql md5 56ed6afb814645f5f497332c5f34ad17
function audit(who text, what text, about text, more jsonb DEFAULT '{}'::jsonb) returns void language sql md5 e91c45669ebb9fa4ea44afbdf45d0ca7
function beat(me integer, owed bigint) returns TABLE(is_known boolean, nodes jsonb, owners integer[], epochs bigint[], suspects boolean[]) language plpgsql md5 8a9b0936150bc3edceca2a7eb117dc67
function beat_worker(me integer, now_running integer) returns TABLE(is_known boolean, worker_state text, peers jsonb, cancelled jsonb) language plpgsql md5 22bbf9a163bc4aa3bfc42446619815fb
function bundle_of(run bigint) returns SETOF holdfast.waiting_bundles language sql stable md5 fa0c42f705bb57dbf113291748b673b3
function bundled_ids(first_id bigint, end_id bigint) returns SETOF bigint language sql stable md5 4bf651480a2d7e34dba862685e94eba9
function bundled_runs(lanes integer[], job integer, before bigint, max_rows integer, lowest bigint DEFAULT 0) returns SETOF holdfast.runs language sql stable md5 6391cb732bf805e0dcac322e59bce5cf
function bury_deliveries(records jsonb, owned integer[]) returns integer language plpgsql md5 ccad5795a85f2371304dd4ff241fe60a
function bury_node(dead integer, seen_beat bigint) returns boolean language plpgsql md5 73b73aaac3e4fa1d3deaead4697b4147
function bury_runs(records jsonb, chosen bigint[], me integer) returns integer language plpgsql md5 4bff9e07679b299bd32850722173c59b
function bury_worker(dead integer, seen_beat bigint, me integer) returns integer language plpgsql md5 000a692d1e3cb405c0ab6e1f637e536d
function cancel_deliveries(lane integer, only_route integer, why text) returns bigint language plpgsql md5 dac099332edf82f0074e95dd21b55bca
function cancel_owed(delivery_ids bigint[], why text) returns integer language plpgsql md5 19a0d58332c20ccd8b95907ea49e4dbe
function cancel_returned(returned bigint[]) returns void language plpgsql md5 1cce301a8aa06b3b28bf66a55e6a1210
function cancel_run(run_id bigint, why text DEFAULT NULL::text, actor text DEFAULT CURRENT_USER) returns text language plpgsql md5 5f5bd06782074e93c9d3ab7b7b3813bd
function carry_out(op holdfast.operations, ids bigint[]) returns integer language plpgsql md5 ab0d4c61aac090bc4338fa630b2f836f
function changes(before jsonb, after jsonb) returns jsonb language sql immutable md5 3d2145fa847d617370dce5bcf6393bbf
function check_bound(added bigint) returns void language plpgsql stable md5 4d6b255bc30a711552a86587d8f904c4
function check_events(event_types text[], bodies text[], message_options jsonb[]) returns void language plpgsql stable md5 6eba6ebcc7674fd26f542bbcfe67e39e
function check_message_options(message_options jsonb[]) returns void language plpgsql stable md5 f9f8045ae5001260a8d9cd1dd06b8738
function check_operation(kind text, filter jsonb, options jsonb) returns void language plpgsql stable md5 7b06bfcef04fc7d84835728708419593
function claim_idempotency_key(key_scope text, idempotency_key text, prefix text, body text, new_result bigint[]) returns bigint[] language plpgsql md5 68c536a2d5fe92f14ae32192735b28bb
function claim_leadership(me integer, shard_epoch bigint) returns bigint language plpgsql md5 fc11581ff6ce0ac9e13841119b3e76d2
function claim_run_keys(job integer, body text, options jsonb, new_run bigint) returns bigint language plpgsql md5 ce127ca97ec2cbf37ec77300b2f95e95
function claim_runs(me integer, lane integer, wanted integer, suspect_room integer, may_take_deadly boolean, request bigint DEFAULT 0) returns TABLE(claim bigint, id bigint, message_id bigint, job_id integer, attempt integer, crashes smallint, expires_at_ms double precision, body text, correlation_id text, headers jsonb, metadata jsonb, fresh_run_ids text, fresh_run_jobs text, fresh_run_expiries text, body_ids text, bodies text, body_extras jsonb, wait_ms double precision, xmin_seen bigint, next_seen bigint) language plpgsql md5 b5bcd9048c4d7b60cc49ffa0ea01db17
function cleanup_dlq(max_rows integer DEFAULT 10000) returns integer language plpgsql md5 538c58e250d42b3ae2ab8d980c39be99
function clear_suspicion(me integer, shards integer[]) returns void language sql md5 d422fefe20938b682f1e9a377d947f0c
function clear_unique_keys(max_rows integer) returns integer language plpgsql md5 ca5c77756ea14f0ed1195c8129d23cfc
function close_pause(pauses jsonb) returns jsonb language sql md5 e3f9a315ce397167e07a41e766a86157
function correlated_messages(wanted text) returns bigint[] language plpgsql stable md5 7ef43c791a710b5fa623a99cd74b023f
function count_claimed(lane integer) returns integer language sql stable md5 ae695b615eadbfd928624aee3f48dfe2
function count_owed_runs(lane integer) returns bigint language sql stable md5 91b238253043d9853b06a08cf79b2ed7
function create_operation(kind text, filter jsonb, options jsonb DEFAULT '{}'::jsonb, rate double precision DEFAULT NULL::double precision, seen_as_of text DEFAULT NULL::text, actor text DEFAULT CURRENT_USER) returns bigint language plpgsql md5 f0c2d67d807be3c6c744c854b35ed49a
function create_partition(parent text, part text, from_id bigint, to_id bigint) returns void language plpgsql set search_path=pg_catalog md5 10525fc6ab5ca9578c522ea46d9d7f5b
function criticality_code(word text) returns smallint language sql immutable parallel safe md5 9180e7b219d6fcd361f64ba1d09fb494
function cut_bundle(lane integer, bundle bigint, first_run bigint, total integer, due timestamp with time zone) returns void language plpgsql md5 2c17eea6e01f4da8ae8d9d9cfd3f0c5d
function declare_job(job_name text, job_defaults jsonb) returns integer language plpgsql md5 f9c7bd113288d9872f794272d7031e37
function delete_endpoint(endpoint_name text, force boolean DEFAULT false, actor text DEFAULT CURRENT_USER) returns bigint language plpgsql md5 c559aef83b33e9b41e419d10633abff4
function delete_expired_secrets() returns integer language plpgsql md5 2d59d80650e2ecb6566a4e1e6824bf89
function delete_route(route_name text, force boolean DEFAULT false, actor text DEFAULT CURRENT_USER) returns bigint language plpgsql md5 62606bdc8db17d8a0ca1338a64225db0
function delivery_conditions(filter jsonb, OUT lane integer, OUT message_ids bigint[], OUT wanted_state text, OUT wide text, OUT asks_message boolean, OUT from_id bigint, OUT to_id bigint) returns record language plpgsql stable md5 d35acd294e4487e83cb4e2d360659399
function delivery_source(source text, lane integer, messages bigint[], ending smallint, asks_error boolean) returns text language plpgsql immutable md5 e9450f15d165cfc06c8fa616f6c2d68e
function dlq_summary() returns TABLE(endpoint text, dead bigint, redriven bigint, resolved bigint, discarded bigint, oldest timestamp with time zone, newest timestamp with time zone, queue text) language plpgsql stable md5 336ccc444075872a83ac293e010e354d
function drain_worker(worker integer, actor text DEFAULT CURRENT_USER) returns boolean language plpgsql md5 f16dd1f5bb8dda1d3fd484a57d7e8563
function drop_old_partitions(retention_months integer DEFAULT NULL::integer) returns integer language plpgsql md5 e78fa0d8ac051aa7228368a1b5d51602
function due_operations(max_rows integer, OUT ids bigint[], OUT next_ms double precision) returns record language sql stable md5 4de561b987b8af6b3ff8d36e771cffc1
function empty_partition(part text) returns void language plpgsql md5 deab040ff638db3b33ea7bb021741f6e
function end_deliveries(me integer, records jsonb, owned integer[]) returns void language sql md5 e3a2672ba42ee5085d54ab7d51c49ed6
function end_waiting(run_ids bigint[]) returns integer language plpgsql md5 97f11579a50ff00b3a04b1c03592025b
function endpoint_health(endpoint_name text DEFAULT NULL::text) returns TABLE(endpoint text, state text, reason text, circuit text, failures integer, opened_at timestamp with time zone, probe_at timestamp with time zone, held_until timestamp with time zone, pending bigint, in_flight integer, oldest_due_at timestamp with time zone, dead_letters bigint) language sql stable md5 342e13472cfe9c3f152c6c6f59ccf53b
function endpoint_metrics(names text[], top integer) returns TABLE(metric text, labels jsonb, value double precision) language sql stable md5 6c82e5607fbb5efd231c75ee5dfeeaa9
function endpoint_view(endpoint holdfast.endpoints) returns jsonb language sql stable md5 ecaf3090aebdbdd05758f2ec6d074571
function enqueue(job text, payload jsonb, options jsonb DEFAULT NULL::jsonb) returns text language sql md5 369da71470ff7d52b2adcaa25701f227
function enqueue_batch(job text, payloads jsonb[], options jsonb DEFAULT NULL::jsonb) returns SETOF text language sql md5 b0de6aaabec8e63292dcda8d3731a9ea
function ensure_queue(queue_name text) returns integer language plpgsql md5 c559ff9934b10649a3f37813121f14d2
function envelopes_of(message_ids bigint[], low bigint, high bigint) returns text language plpgsql stable md5 f7d04041fce3bec3230d1272d128c209
function error_fingerprint(reason text, status_code smallint, error_code text, error text) returns text language sql immutable parallel safe md5 c34008cbbbc7b80d118f7e9e23519664
function expire_runs(max_rows integer, me integer) returns integer language plpgsql md5 42ed31ff9a1f6c9182b1ba555bf72e74
function expire_targets(max_rows integer, me integer) returns integer language plpgsql md5 cebe9eb189d144f641ce394b6463145f
function fail_runs(chosen bigint[], why text, code text, message text, actor integer) returns integer language plpgsql md5 f86ae159545113c3cfc604fd9e800069
function fail_step(operation_id bigint, what text) returns void language sql md5 d49926052d208284a10a95bd1b5103d4
function failure_records(records jsonb) returns TABLE(id bigint, message bigint, lane integer, epoch bigint, route integer, attempt integer, expected integer, outcome smallint, status smallint, "ageMs" double precision, "durationMs" integer, "errorCode" text, error text, detail jsonb, action text, "delayMs" double precision, reason text, "isProbe" boolean, "isCounted" boolean, "isTried" boolean, "blocksKey" boolean) language sql immutable md5 c7d2dae8935b70fa83de43183a4674e4
function find_deliveries(filter jsonb, before_id bigint, max_rows integer, max_scanned integer, OUT ids bigint[], OUT scanned_to bigint) returns record language plpgsql stable md5 248e1dfb746d3e2c4a982a9f5020dd40
function find_events(filter jsonb, before_id bigint, max_rows integer, max_scanned integer, OUT ids bigint[], OUT scanned_to bigint) returns record language plpgsql stable md5 6eaac92da8080cf018138af360252b21
function find_letters(filter jsonb, before_id bigint, max_rows integer, max_scanned integer, OUT ids bigint[], OUT scanned_to bigint) returns record language plpgsql stable md5 62638be046b76eb50f42d1cbcb03cedf
function finish_task(me integer, my_term bigint, task_name text, duration_ms integer, task_summary jsonb, error text, next_at timestamp with time zone, after_start_ms double precision) returns void language plpgsql md5 b0f1134979f2c5b095d6af16f506ed9f
function fire_schedules(fires jsonb) returns integer language plpgsql md5 d0392a0ed0a97e08e044e39799d7b66a
function fitting_targets(lane integer, worker_name text, worker_tags text[]) returns text[] language sql stable md5 19e964e94f1e9f77c6e4313c444d5557
function follow_notices(patience_ms double precision) returns TABLE(channel text, title text, text text, error text) language sql md5 45929d9824e20f98c5bee2fd08b42c25
function forget_former_queues() returns integer language plpgsql md5 cb034e78b591d4b5a4defe56c55f3aca
function format_id(prefix text, id bigint) returns text language sql immutable parallel safe md5 82133be8effe0335b9b030d44fabdf7b
function free_keys(lanes integer[], ordering_keys text[], concurrency_keys text[]) returns void language plpgsql md5 24e7e0588314b283f01f2e29b39e2661
function free_slots_of(returned bigint[]) returns void language plpgsql md5 fbd5bd7dcd3f16e5de3b18ed40d510be
function hasten_run(run_id bigint, actor text DEFAULT CURRENT_USER) returns boolean language plpgsql md5 01312ce0a1e144315cd0f53f8c50568e
function header_problem(headers jsonb) returns text language plpgsql immutable md5 cf5a8eb77fec5b363c14e4f802c4f2bb
function holder_of_run(run_id bigint) returns integer language sql stable md5 5503660d8ca6cb93308220bb92c5c3eb
function holds_run(claim bigint, me integer, run holdfast.runs) returns boolean language sql stable md5 efa4357de0241858d443bc1bb869efac
function hurry_deliveries(delivery_ids bigint[]) returns integer language plpgsql md5 5a86550ff696855628d67ca2743cd440
function id_at(at timestamp with time zone) returns bigint language sql immutable parallel safe md5 4421b8f4cb74badd19bb6c5a67112ac8
function id_ranges(ids bigint[]) returns int8multirange language sql immutable md5 6d55ce3d9ba1441cd74c81273fc247ce
function in_scope(endpoint holdfast.endpoints, only_endpoint text, only_tag text) returns boolean language sql immutable md5 8c734ee6bf5251b9ffcf72f202daea28
function is_replay(delivery bigint) returns boolean language sql stable md5 0fc2edc2473744b698f706a30901d411
function is_stored(message bigint) returns boolean language sql stable md5 446428b0e8414508f7a040d26f5eb752
function job_of_bundled(run bigint, lane integer, OUT job_id integer, OUT priority smallint) returns record language sql stable md5 83989e6d1f56fc8b54c98340f2ad6d52
function keep_bodies(message_ids bigint[]) returns integer language plpgsql md5 b1f5c649f8a18521fa48033e3205793a
function keep_needed(part text, max_rows integer DEFAULT NULL::integer) returns integer language plpgsql md5 62724f99683b6fc8b4cbcbba4910584f
function keep_position(round text, reached bigint) returns void language sql md5 6307fca3ed21fa6854f56eb4f6a5a635
function lane_of(endpoint_name text) returns integer language plpgsql stable md5 9663a990844aec7fdea7ce2f21ccb95c
function late_bundles(lane integer, ended xid8[], above bigint, cursors bigint[]) returns SETOF holdfast.run_bundles language sql stable md5 fbaa4bd8cdd1ad583d1d8ba091c57d6f
function letter_conditions(filter jsonb, OUT narrow text, OUT wide text, OUT asks_message boolean) returns record language plpgsql stable md5 e5bd2cc79a702485b2b6903425c3d7b7
function letter_groups(filter jsonb, max_groups integer) returns TABLE(fingerprint text, lane_id integer, letters bigint, first_seen timestamp with time zone, last_seen timestamp with time zone, sample_id bigint) language plpgsql stable md5 a92d87a9615e39df9ae3701b53fcc00c
function letter_state(dead_letter_id text, OUT id bigint, OUT state text) returns record language plpgsql md5 04a1dbfaf2f935c328bbb8ecc8a44ac6
function lock_incarnation_shared(incarnation integer) returns void language sql md5 c5feb969b5b873f97421616e2d1545a2
function maintain_partitions(months_ahead integer DEFAULT 3) returns integer language plpgsql set search_path=pg_catalog md5 6fbdc7889e6eccf6c19278208a1fffc4
function mark_retiring(months integer DEFAULT NULL::integer) returns integer language plpgsql md5 d7bc34570e7dede759ba74f7ebf5f125
function matching_routes(wanted_type text, wanted_tenant text) returns SETOF holdfast.routes language sql stable md5 88d4232e9cc7a691f25d0593bf38a352
function meets_filter(body json, filter jsonpath) returns boolean language plpgsql stable md5 4ad51eca12ce8cbe97b3534a43ba34de
function message_condition(field text, value text) returns text language sql stable md5 9fd95a7308a586dc040896f6e460a345
function message_join(owner text) returns text language sql immutable md5 12777322eaed469a66f5884a48dfce88
function messages_to_replay(filter jsonb, target_lane integer, target_route integer) returns text language plpgsql stable md5 76452af4fe44dc565f63a34433fb169c
function metrics() returns TABLE(metric text, labels jsonb, value double precision) language plpgsql stable md5 0ae2bfac0a932c27e533301383ac9776
function needed_messages(first_id bigint, end_id bigint) returns SETOF bigint language plpgsql stable md5 e908b315990467aedb770e527887c0cf
function next_due_ms(lane integer, targets text[]) returns double precision language sql md5 804b2e72cf6a2bdd1b39c88b94668477
function next_transaction(seen pg_snapshot) returns bigint language sql md5 8660a7f7078e1e71282e31e326edbb4f
function normalise_error(error text) returns text language sql immutable parallel safe md5 842ff04befa3787ec185d49fbac64542
function note_change() returns trigger language plpgsql md5 44238258c1198c85fad3e5dfc37898ad
function note_move() returns trigger language plpgsql md5 9393104d91ddb2e9ba29b36a14d7f4da
function oldest_owed(lane integer) returns timestamp with time zone language sql stable md5 28114ecaf4113d335c54c5065f858e65
function oldest_waiting_run(lane integer) returns timestamp with time zone language sql stable md5 8372eb9c569a1d8b3d55f89e93595860
function open_pause(pauses jsonb) returns jsonb language sql md5 488bf3f9c0021a69ddd81e6bca09f09b
function operation_targets(kind text, filter jsonb, options jsonb) returns text language plpgsql stable md5 871ddf93883e5961d09b01982365be97
function option_problem(options jsonb) returns text language plpgsql stable md5 0d102129a860fce1d6e3bd40dc3d3b3b
function original_message(seen bigint) returns bigint language plpgsql stable md5 4c9734b78f221829a6de02d31e0a6067
function outcome_code(word text) returns smallint language sql immutable parallel safe md5 ed75df792cdc0b04970849aa865c8091
function outcome_word(code smallint) returns text language sql immutable parallel safe md5 41fc848011d64695c7f0c6c7480fd8ce
function override_job(job_name text, changes jsonb, actor text DEFAULT CURRENT_USER) returns jsonb language plpgsql md5 8edc99a0706eabea383be583243f04b4
function owed_overall() returns bigint language plpgsql stable md5 04b7a40a026c39f5987ea8fb82f9a76f
function owned_lanes(me integer, lanes integer[], lane_epochs bigint[]) returns integer[] language sql stable md5 387bc932de5c67e76f57b10763d72060
function parse_id(prefix text, id text) returns bigint language plpgsql immutable parallel safe md5 6b2409ed46d6177713281504265bb6c8
function partition_ranges(parent text) returns TABLE(name text, from_id bigint, to_id bigint) language sql stable set search_path=pg_catalog md5 91e8283c1946067acf2b344adb018326
function persisting_recipients() returns TABLE(endpoint text, contact text, dead_letters bigint, overdue bigint, since timestamp with time zone, oldest_message_id bigint, last_error text, last_error_at timestamp with time zone) language sql stable md5 26fd73ee8b60374111eb562860c8cc25
function preview_operation(kind text, filter jsonb, options jsonb DEFAULT '{}'::jsonb, seen_as_of text DEFAULT NULL::text, OUT total bigint, OUT as_of text, OUT as_of_at timestamp with time zone) returns record language plpgsql md5 5418731c80886427ffa6f0df1c5fd83a
function publish(type text, payload jsonb, options jsonb DEFAULT NULL::jsonb) returns text language sql md5 b033f76a5b12fe85a822189ccce44245
function publish_batch(events jsonb) returns SETOF text language plpgsql md5 22786ccafffabafa2e452b191209857e
function purge_alerts(keep_days integer, max_rows integer) returns integer language plpgsql md5 5b11894beab89350090db15abbab7f29
function purge_archive(max_rows integer) returns integer language plpgsql md5 625c73ef441642351e947a75ebfbfca3
function purge_idempotency_keys(max_rows integer) returns integer language plpgsql md5 688e235b8fdd50dfbbef0f5eba1c4c77
function purge_rollups(max_rows integer) returns integer language plpgsql md5 b3f288c1cad6d3537f17f3dbb0dda114
function queue_metrics() returns TABLE(metric text, labels jsonb, value double precision) language sql stable md5 d3bb4dfcb5cddbb6f7885d44416810f5
function read_bodies(wanted bigint[], OUT ids text, OUT texts text, OUT extras jsonb) returns record language plpgsql stable md5 c969f178e5bfc761472fd347f7254554
function record_job_failures(job integer, failures integer, actor text) returns boolean language plpgsql md5 fd008deae7c6e59ac06f7c40df8e1c85
function record_progress(me integer, entries jsonb) returns void language sql md5 b8869247366a08a48834ea81143e7b01
function record_run(lane integer, circuit jsonb, run jsonb, health jsonb, suspension jsonb, actor text) returns boolean language plpgsql md5 e31e8035b8dc5390fcd9f84d444a174d
function record_suspects(me integer, delivery_ids bigint[], lanes integer[]) returns void language sql md5 69aa9fe43ae865026ad3cf2968883c34
function redrive_all(rate double precision DEFAULT NULL::double precision, actor text DEFAULT CURRENT_USER) returns text language sql md5 8a12206af76651da7422ee23c42e343c
function redrive_endpoint(name text, rate double precision DEFAULT NULL::double precision, actor text DEFAULT CURRENT_USER) returns text language sql md5 2956654a866f7e26e6d6787c02602968
function redrive_letters(letter_ids bigint[], actor text, is_resend boolean DEFAULT false) returns TABLE(letter_id bigint, delivery_id bigint) language plpgsql md5 d374f1bc9986ff2e4bf83010cd3c23a3
function redrive_message(dead_letter_id text, actor text DEFAULT CURRENT_USER) returns text language plpgsql md5 d894c98285c66f66ce328abb57d2ef3c
function redrive_runs(open_ids bigint[], actor text, is_resend boolean) returns TABLE(letter_id bigint, delivery_id bigint) language plpgsql md5 78537bee6909b61dcbd9354c430f7328
function reenable_endpoints(actor text) returns SETOF text language sql md5 6d5903dcd1ac1dd52856d8f0331c07a7
function reenable_jobs(actor text) returns SETOF text language sql md5 0503b5c4b24389bc23327121466c44a3
function register_node(node_name text, node_version text) returns integer language sql md5 7ed6fec3562f95293945a30399b7a482
function register_tasks(me integer, my_term bigint, tasks jsonb) returns void language plpgsql md5 3d30efc861a0f2fdf62bc98367835bca
function register_worker(worker_name text, worker_version text, worker_host text, worker_pid integer, queue_names text[], worker_tags text[], worker_concurrency integer, worker_lease_ms integer) returns TABLE(incarnation integer, lanes integer[]) language sql md5 fee405c433e3b2de0a118e515ac622ab
function release_shards(me integer, shards integer[]) returns integer language plpgsql md5 f00960a3c1858cfe04d77f1485f8f6bd
function remove_partition(part text) returns void language plpgsql md5 2e648d32d45c7752d41c880ab6eb311e
function replay_message(id text, target_endpoint text DEFAULT NULL::text, actor text DEFAULT CURRENT_USER, target_route text DEFAULT NULL::text) returns SETOF text language plpgsql md5 c15a2168087deb2be13d837e0d2ac614
function replay_range(endpoint text, from_ts timestamp with time zone, to_ts timestamp with time zone, state text DEFAULT NULL::text, target_endpoint text DEFAULT NULL::text, rate double precision DEFAULT NULL::double precision, actor text DEFAULT CURRENT_USER, target_route text DEFAULT NULL::text) returns text language sql md5 ea596265709bd70a2155294c46d11708
function replay_rows(operation bigint, source text, as_of pg_snapshot, as_of_at timestamp with time zone, after bigint, max_rows integer, OUT looked_at integer, OUT last_position bigint, OUT delivery_ids bigint[]) returns record language plpgsql md5 5913ed05e7a6020886747df3779dd665
function replay_targets(filter jsonb, options jsonb) returns text language plpgsql stable md5 fc0d7ae71ef9bf8e356420ab803bc4fc
function resend_critical(actor text DEFAULT 'holdfast'::text) returns bigint language plpgsql md5 68013a3317daafcaa5c8b0a6fe68b303
function reset_circuit_breaker(name text, actor text DEFAULT CURRENT_USER) returns boolean language plpgsql md5 029d47cd85e117b55ef9e0a2e8572ce8
function retire_node(me integer) returns void language plpgsql md5 41a3dbba8cb19d968963caf4f6ea9db7
function retire_worker(me integer) returns integer language plpgsql md5 77b9ef92d0a8ff8b75268b27cf307e97
function return_claim(me integer, lost_request bigint) returns integer language plpgsql md5 bc0468bff7279d39c797a5c867588d1c
function rewind_floors(lane integer) returns void language plpgsql md5 43aa23df6ca2069d7dba3743fe7e77aa
function ring(lane_ids integer[]) returns void language plpgsql md5 d1dc8494d51baa5122b5d136fb0960ea
function ring_workers(lane integer) returns void language plpgsql md5 78cf43780d93f052a5ebf1c440e3cec8
function roll_up_days(days_back integer) returns integer language plpgsql md5 8bc8ffa8c6a835269d19ce5a4d30b921
function room_for(op holdfast.operations, OUT room bigint, OUT obstacle text) returns record language plpgsql stable md5 a7b43d5945f70ba3f5fd97e0515f2384
function rotate_secret(lane integer, secret_field text, new_key_id text, new_sealed bytea, overlap_ms bigint, actor text) returns timestamp with time zone language plpgsql md5 297f1151bf74ed81fd41a1f4793f26ca
function route_of(route_name text) returns integer language plpgsql stable md5 5c94e56e3547a3822db426216f5d4e71
function route_view(route holdfast.routes) returns jsonb language sql stable md5 051760f30a71ce7573cc1884818dce4a
function run_option_problem(options jsonb) returns text language plpgsql stable md5 60dc353edc3748e84cf6de67657160a5
function run_records(records jsonb) returns TABLE(id bigint, message bigint, claim bigint, lane integer, attempt integer, expected integer, outcome smallint, "ageMs" double precision, "durationMs" integer, "errorCode" text, error text, detail jsonb, action text, "delayMs" double precision, reason text, "isTried" boolean) language sql immutable md5 65c617dbf78992a559e25aa9e7158c03
function run_task(task_name text, actor text DEFAULT CURRENT_USER) returns boolean language plpgsql md5 63f145178c5f6c9cc37054ee40f6796c
function send(endpoint text, payload jsonb, options jsonb DEFAULT NULL::jsonb) returns text language sql md5 eef8f215c5759735022c22d6b5cde8de
function send_batch(endpoint text, payloads jsonb[], options jsonb DEFAULT NULL::jsonb) returns SETOF text language sql md5 5e2b0753103969e1835dfb155944bb98
function send_notice(channel_name text, notice_title text, notice_text text, payload jsonb) returns bigint language plpgsql md5 4b36284c483048dbb3c9ec08a01fb649
function set_endpoint_state(endpoint_name text, new_state text, why text DEFAULT NULL::text, actor text DEFAULT CURRENT_USER) returns text language plpgsql md5 d482f97265b8c207028a6269aff9825b
function set_fresh_aside(chosen bigint[]) returns void language plpgsql md5 91053baa38aae85f18aa66dbb7c9cf2c
function set_job_state(job_name text, new_state text, why text DEFAULT NULL::text, actor text DEFAULT CURRENT_USER, reenable_ms double precision DEFAULT NULL::double precision) returns text language plpgsql md5 d481f4fd4e80c5dec6fc683c128c7007
function set_queue_limits(queue_name text, new_concurrency integer, new_rate double precision, actor text DEFAULT CURRENT_USER) returns integer language plpgsql md5 f3fecb3a672479979a2d43598e94198c
function set_queue_state(queue_name text, new_state text, why text DEFAULT NULL::text, actor text DEFAULT CURRENT_USER) returns text language plpgsql md5 a6c83cafc181c1c69d98e8347aa7eb58
function setting_integer(setting text) returns bigint language plpgsql stable parallel safe md5 73bcf8a654a21c84562d7fd4f421d3f7
function settle(me integer, delivery_ids bigint[], message_ids bigint[], lanes integer[], route_ids integer[], attempt_numbers integer[], ages_ms double precision[], durations_ms integer[], status_codes integer[], batch bigint, records jsonb, runs jsonb) returns TABLE(refused bigint[], changed integer[]) language plpgsql md5 80c26478a0ef788f082ba67cce2541e7
function settle_failures(me integer, batch bigint, records jsonb, runs jsonb) returns TABLE(refused bigint[], changed integer[]) language plpgsql md5 91819ec524a8c1c3d7feb0207e87467d
function settle_late_run_successes(run_ids bigint[]) returns void language plpgsql md5 58d14e9597e7fe975405d6faa23c1435
function settle_late_successes(delivery_ids bigint[]) returns bigint[] language plpgsql md5 ad0aa8524526ebf4b8108551012b11a7
function settle_letter(dead_letter_id text, new_state text, new_note text, new_action text, actor text) returns void language plpgsql md5 14d9c6b490dfcf74ff165e104c8abdf9
function settle_letters(letter_ids bigint[], new_state text, new_note text, new_action text, actor text) returns integer language plpgsql md5 a20c200095e49f97c90092ea4f6f7b29
function settle_redriven(letter_ids bigint[]) returns void language sql md5 defdc40af401bc577f356e051fbf9d59
function settle_run_failures(me integer, records jsonb, ended_claims bigint[]) returns bigint[] language plpgsql md5 782ba3d9dddb7fd46a660b31a349b0c7
function settle_run_successes(me integer, run_ids bigint[], run_set int8multirange, claims bigint[], message_ids bigint[], lanes integer[], attempt_numbers integer[], ages_ms double precision[], durations_ms integer[], details jsonb[], ended_claims bigint[]) returns void language plpgsql md5 48fc7440baa38701014a27d781211a9a
function settle_runs(me integer, batch bigint, runs jsonb) returns integer[] language plpgsql md5 38dec1c79258134e61866fe647edcd56
function settle_successes(me integer, delivery_ids bigint[], message_ids bigint[], lanes integer[], route_ids integer[], attempt_numbers integer[], ages_ms double precision[], durations_ms integer[], status_codes integer[]) returns bigint[] language plpgsql md5 59af48567db06c21e018a82b13ee1357
function silence_alert(alert_id bigint, until timestamp with time zone, actor text, remark text) returns boolean language plpgsql md5 310e8a5fc091d826c2e75f2a5fe7a7a0
function start_due_tasks(me integer, my_term bigint, busy text[], retry_ms double precision) returns SETOF text language plpgsql md5 82eb1534a4ceaa57ae7186df1e11b955
function start_probe(lane integer, token text, timeout_ms double precision) returns bigint language sql md5 1b72f22c511c508522cca4c459bcc9a6
function steer_operation(operation_id text, wanted text, actor text DEFAULT CURRENT_USER) returns text language plpgsql md5 932d0fa2a72df2793f478a1509212cc5
function step_operation(operation_id bigint, node_name text, max_rows integer) returns boolean language plpgsql md5 e7444af3f305b8d3d3b9ae42220d3252
function store_secrets(lane integer, kept text[], fields text[], key_ids text[], sealed_values bytea[]) returns void language plpgsql md5 75a41bf857491fe1e642e797ee1b9a82
function subject_of(lane integer) returns text language sql stable md5 13daecf249db95dc1f7be6a4ac816bb9
function sum_rollups(only_lane integer, of_period smallint, since timestamp with time zone, step interval) returns TABLE(lane_id integer, starts_at timestamp with time zone, attempts bigint, successes bigint, throttled bigint, durations bigint[], answers jsonb) language sql stable md5 a74bba9bc0bf32d662b770f4386abd8b
function suspend_endpoint(lane integer, new_state text, why text, reenable_ms double precision, actor text) returns boolean language plpgsql md5 ec21113691537abd559d0ab487d9e02c
function sweep_zombies(threshold_ms double precision, max_rows integer, me integer) returns integer language plpgsql md5 089e7e9a1c678baa71eb875fd21e1e17
function take_out(run_id bigint) returns integer language plpgsql md5 13d312f3f59b50fd863f86df26b3bcc1
function take_out_late(lane integer, ended xid8[], above bigint, cursors bigint[], due timestamp with time zone) returns integer language plpgsql md5 874f0882c5ac92ebc859af861ebbd9ad
function take_out_of_claims(claims bigint[], chosen int8multirange DEFAULT NULL::int8multirange) returns void language plpgsql md5 224584bf0e14556f18bc66316300337f
function take_shards(me integer, from_incarnation integer, seen_beat bigint, shards integer[]) returns TABLE(shard smallint, epoch bigint, is_suspect boolean) language plpgsql md5 c4ce5104b9c8a2402bc89eb7ef45a284
function tell_nodes(channel text, payload text) returns void language sql md5 845970edeb1ba7c9b23db481c5cc2eb1
function time_of_id(id bigint) returns timestamp with time zone language sql immutable parallel safe md5 5b7e0544fc27d799bd429586ebf90a53
function time_of_ms(ms double precision) returns timestamp with time zone language sql immutable md5 9edd1220abb82fb5def307f5f643c3c7
function time_problem(deliver_at text, expires_at text) returns text language plpgsql stable md5 93045690a9b96e78056d7de483a2a8e0
function tried_and_owed(first_id bigint, end_id bigint) returns SETOF bigint language plpgsql stable md5 0fa30b2d7b1ea6d42ce0741be4e2d4db
function unpark_job(job integer) returns integer language plpgsql md5 c0a540c4b3fb917c536e7a483ff7017f
function unpark_jobs() returns integer language plpgsql md5 89029f98162bae4d48976ba896ecfc4e
function unpark_stranded(max_rows integer) returns integer language plpgsql md5 d2e90ed18d88f381041b057930abca1e
function was_visible(row_xid xid, as_of pg_snapshot, top bigint, bottom_age integer) returns boolean language sql stable parallel safe md5 35fc35214fc791e7d2b10d51bf263080
function worker_beats() returns jsonb language sql stable md5 f1616394c92372dc92a0d5bd238aed3f
function write_alerts(changes jsonb) returns void language plpgsql md5 362f1915e74802fc7f268ca547ff7ab7
