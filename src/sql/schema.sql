-- What src/sql makes, written by `npm run schema`. Nothing runs this file: read its diffs.
sequence holdfast_internal.audit_log_id_seq as bigint start 1 min 1
sequence holdfast_internal.broker_rejects_id_seq as bigint start 1 min 1
sequence holdfast_internal.event_sources_id_seq as integer start 1 min 1
sequence holdfast_internal.ids as bigint start 1 min 1
sequence holdfast_internal.incarnations as integer start 1 min 1
sequence holdfast_internal.job_declarations_id_seq as bigint start 1 min 1
sequence holdfast_internal.jobs_id_seq as integer start 1 min 1
sequence holdfast_internal.lanes as integer start 1 min 1
sequence holdfast_internal.notices_id_seq as bigint start 1 min 1
sequence holdfast_internal.operation_deliveries_step_seq as bigint start 1 min 1
sequence holdfast_internal.quarantine_id_seq as bigint start 1 min 1
sequence holdfast_internal.routes_id_seq as integer start 1 min 1
sequence holdfast_internal.run_claims_seq as bigint start 1 min 1
sequence holdfast_internal.schedules_id_seq as integer start 1 min 1
sequence holdfast_internal.server_life as bigint start 0 min 0
sequence holdfast_internal.source_rejects_id_seq as bigint start 1 min 1
  CREATE TRIGGER settings_read_only INSTEAD OF INSERT OR DELETE OR UPDATE ON holdfast.settings FOR EACH ROW EXECUTE FUNCTION holdfast_internal.refuse_setting()
table holdfast_internal.alert_channels
  name text not null
  kind text not null
  endpoint text
  is_enabled boolean not null default true
  created_at timestamp with time zone not null default now()
  constraint alert_channels_check CHECK (((kind = 'log'::text) = (endpoint IS NULL)))
  constraint alert_channels_kind_check CHECK ((kind = ANY (ARRAY['webhook'::text, 'slack'::text, 'email'::text, 'log'::text])))
  constraint alert_channels_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,39}$'::text))
  constraint alert_channels_pkey PRIMARY KEY (name)
table holdfast_internal.alert_notices
  id bigint not null default nextval('holdfast_internal.ids'::regclass)
  at timestamp with time zone not null default clock_timestamp()
  channel text not null
  title text not null
  text text not null
  message_id bigint
  state text not null default 'sent'::text
  error text
  constraint alert_notices_pkey PRIMARY KEY (id)
  constraint alert_notices_state_check CHECK ((state = ANY (ARRAY['sent'::text, 'delivered'::text, 'logged'::text])))
  CREATE INDEX alert_notices_open ON holdfast_internal.alert_notices USING btree (id) WHERE (state = 'sent'::text)
table holdfast_internal.alert_rules
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
table holdfast_internal.alerts with (fillfactor=70)
  id bigint not null default nextval('holdfast_internal.ids'::regclass)
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
  CREATE INDEX alerts_resolved ON holdfast_internal.alerts USING btree (resolved_at) WHERE (state = 'resolved'::text)
  CREATE INDEX alerts_state ON holdfast_internal.alerts USING btree (state, id)
  CREATE UNIQUE INDEX alerts_open ON holdfast_internal.alerts USING btree (rule, subject) WHERE (state <> 'resolved'::text)
table holdfast_internal.api_keys
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
  constraint api_keys_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'publisher'::text, 'caller'::text, 'operator'::text, 'admin'::text])))
  CREATE UNIQUE INDEX api_keys_name ON holdfast_internal.api_keys USING btree (name) WHERE (revoked_at IS NULL)
table holdfast_internal.api_results
  owner text not null
  key text not null
  request_hash bytea not null
  status smallint not null
  body text
  expires_at timestamp with time zone not null
  constraint api_results_pkey PRIMARY KEY (owner, key)
  CREATE INDEX api_results_expiry ON holdfast_internal.api_results USING btree (expires_at)
table holdfast_internal.api_sessions
  token_hash bytea not null
  key_id text
  name text not null
  role text not null
  created_at timestamp with time zone not null default now()
  expires_at timestamp with time zone not null
  key_proof bytea
  constraint api_sessions_key_id_fkey FOREIGN KEY (key_id) REFERENCES holdfast_internal.api_keys(id)
  constraint api_sessions_pkey PRIMARY KEY (token_hash)
  CREATE INDEX api_sessions_expiry ON holdfast_internal.api_sessions USING btree (expires_at)
table holdfast_internal.attempts partition by RANGE (delivery_id)
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
  CREATE INDEX attempts_ended ON ONLY holdfast_internal.attempts USING btree (outcome, delivery_id) WHERE (outcome >= 10)
  CREATE INDEX attempts_failed ON ONLY holdfast_internal.attempts USING btree (lane_id, delivery_id) WHERE (outcome <> 1)
  CREATE INDEX attempts_lane ON ONLY holdfast_internal.attempts USING btree (lane_id, delivery_id)
  CREATE INDEX attempts_message ON ONLY holdfast_internal.attempts USING btree (message_id) WHERE (message_id <> delivery_id)
table holdfast_internal.attempts_default partition DEFAULT with (autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=100000, autovacuum_vacuum_insert_scale_factor=0, autovacuum_vacuum_insert_threshold=100000)
table holdfast_internal.audit_log
  id bigint not null generated always as identity
  at timestamp with time zone not null default now()
  actor text not null
  action text not null
  subject text not null
  detail jsonb not null default '{}'::jsonb
  constraint audit_log_pkey PRIMARY KEY (id)
  CREATE INDEX audit_log_action ON holdfast_internal.audit_log USING btree (action, id)
  CREATE INDEX audit_log_actor ON holdfast_internal.audit_log USING btree (actor, id)
  CREATE INDEX audit_log_losses ON holdfast_internal.audit_log USING btree (at) WHERE (action = ANY (ARRAY['node.lost'::text, 'worker.lost'::text]))
  CREATE INDEX audit_log_revivals ON holdfast_internal.audit_log USING btree (at) WHERE (action = 'lane.revived'::text)
  CREATE INDEX audit_log_subject ON holdfast_internal.audit_log USING btree (subject, id)
table holdfast_internal.breakers with (fillfactor=70)
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
  CREATE INDEX breakers_changed ON holdfast_internal.breakers USING btree (changed_xid)
  CREATE INDEX breakers_unwell ON holdfast_internal.breakers USING btree (lane_id) WHERE ((state <> 'closed'::text) OR (held_until IS NOT NULL) OR (hold_reason IS NOT NULL))
table holdfast_internal.broker_queues
  name text not null
  worker text
  ttl_ms double precision
  declared_at timestamp with time zone not null default clock_timestamp()
  messages bigint
  consumers integer
  problem jsonb
  seen_at timestamp with time zone
  constraint broker_queues_pkey PRIMARY KEY (name)
table holdfast_internal.broker_rejects
  id bigint not null generated always as identity
  received_at timestamp with time zone not null default clock_timestamp()
  queue text not null
  error text not null
  fields json not null
  body bytea not null
  constraint broker_rejects_pkey PRIMARY KEY (id)
table holdfast_internal.broker_reports with (fillfactor=50)
  incarnation bigint not null
  node text not null
  report jsonb not null
  reported_at timestamp with time zone not null default clock_timestamp()
  constraint broker_reports_pkey PRIMARY KEY (incarnation)
table holdfast_internal.broker_state with (fillfactor=50)
  is_only boolean not null default true
  beats_through timestamp with time zone not null default '-infinity'::timestamp with time zone
  results_through timestamp with time zone not null default '-infinity'::timestamp with time zone
  constraint broker_state_is_only_check CHECK (is_only)
  constraint broker_state_pkey PRIMARY KEY (is_only)
table holdfast_internal.circuit_changes with (fillfactor=70)
  id bigint not null default nextval('holdfast_internal.audit_log_id_seq'::regclass)
  at timestamp with time zone not null default clock_timestamp()
  lane_id integer not null
  from_state text not null
  to_state text not null
  version bigint not null
  actor text not null
  probes integer not null default 0
  last_probe_at timestamp with time zone
  constraint circuit_changes_pkey PRIMARY KEY (id)
  CREATE INDEX circuit_changes_lane ON holdfast_internal.circuit_changes USING btree (lane_id, id)
table holdfast_internal.dead_letters with (autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=10000, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=10000)
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
  fingerprint text default holdfast_internal.error_fingerprint(reason, status_code, error_code, error)
  changed_xid xid8 not null default pg_current_xact_id()
  resends integer not null default 0
  resent_at timestamp with time zone
  broker_history jsonb
  broker_failed_at timestamp with time zone
  constraint dead_letters_delivery_id_key UNIQUE (delivery_id)
  constraint dead_letters_pkey PRIMARY KEY (id)
  constraint dead_letters_state_check CHECK ((state = ANY (ARRAY['open'::text, 'redriven'::text, 'resolved'::text, 'discarded'::text, 'erased'::text])))
  CREATE INDEX dead_letters_blocking ON holdfast_internal.dead_letters USING btree (ordering_key, lane_id, delivery_id) WHERE (blocks_key AND (settled_at IS NULL))
  CREATE INDEX dead_letters_broker_failed ON holdfast_internal.dead_letters USING btree (broker_failed_at) WHERE (broker_failed_at IS NOT NULL)
  CREATE INDEX dead_letters_critical ON holdfast_internal.dead_letters USING btree (lane_id, id) WHERE ((criticality = 2) AND (settled_at IS NULL))
  CREATE INDEX dead_letters_fingerprint ON holdfast_internal.dead_letters USING btree (fingerprint, id) WHERE (fingerprint IS NOT NULL)
  CREATE INDEX dead_letters_group ON holdfast_internal.dead_letters USING btree (lane_id, fingerprint, state, id) WHERE (lane_id IS NOT NULL)
  CREATE INDEX dead_letters_lane ON holdfast_internal.dead_letters USING btree (lane_id, state, id) WHERE (lane_id IS NOT NULL)
  CREATE INDEX dead_letters_lane_delivery ON holdfast_internal.dead_letters USING btree (lane_id, delivery_id) WHERE (lane_id IS NOT NULL)
  CREATE INDEX dead_letters_lane_id ON holdfast_internal.dead_letters USING btree (lane_id, id) WHERE (lane_id IS NOT NULL)
  CREATE INDEX dead_letters_message ON holdfast_internal.dead_letters USING btree (message_id)
  CREATE INDEX dead_letters_open ON holdfast_internal.dead_letters USING btree (delivery_id) WHERE (state = 'open'::text)
  CREATE INDEX dead_letters_redriven ON holdfast_internal.dead_letters USING btree (redriven_delivery_id) WHERE (redriven_delivery_id IS NOT NULL)
  CREATE INDEX dead_letters_settled ON holdfast_internal.dead_letters USING btree (settled_at) WHERE (settled_at IS NOT NULL)
  CREATE INDEX dead_letters_state ON holdfast_internal.dead_letters USING btree (state, id) WHERE (state IS NOT NULL)
  CREATE INDEX dead_letters_underway ON holdfast_internal.dead_letters USING btree (id) WHERE ((state = 'redriven'::text) AND (settled_at IS NULL))
  CREATE TRIGGER dead_letters_count_deleted AFTER DELETE ON holdfast_internal.dead_letters REFERENCING OLD TABLE AS old_letters FOR EACH STATEMENT EXECUTE FUNCTION holdfast_internal.count_letters()
  CREATE TRIGGER dead_letters_count_inserted AFTER INSERT ON holdfast_internal.dead_letters REFERENCING NEW TABLE AS new_letters FOR EACH STATEMENT EXECUTE FUNCTION holdfast_internal.count_letters()
  CREATE TRIGGER dead_letters_count_truncated AFTER TRUNCATE ON holdfast_internal.dead_letters FOR EACH STATEMENT EXECUTE FUNCTION holdfast_internal.count_letters()
  CREATE TRIGGER dead_letters_count_updated AFTER UPDATE ON holdfast_internal.dead_letters REFERENCING OLD TABLE AS old_letters NEW TABLE AS new_letters FOR EACH STATEMENT EXECUTE FUNCTION holdfast_internal.count_letters()
  CREATE TRIGGER dead_letters_note_change BEFORE UPDATE ON holdfast_internal.dead_letters FOR EACH ROW EXECUTE FUNCTION holdfast_internal.note_change()
table holdfast_internal.deliveries with (autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=10000, autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=10000)
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
  CREATE INDEX deliveries_critical ON holdfast_internal.deliveries USING btree (lane_id, id) WHERE (criticality = 2)
  CREATE INDEX deliveries_due ON holdfast_internal.deliveries USING btree (lane_id, due_at, id) WHERE (due_at IS NOT NULL)
  CREATE INDEX deliveries_expiring ON holdfast_internal.deliveries USING btree (lane_id, expires_at) WHERE (expires_at IS NOT NULL)
  CREATE INDEX deliveries_keyed ON holdfast_internal.deliveries USING btree (ordering_key, lane_id, id) WHERE (ordering_key IS NOT NULL)
  CREATE INDEX deliveries_message ON holdfast_internal.deliveries USING btree (message_id) WHERE (message_id <> id)
  CREATE INDEX deliveries_next ON holdfast_internal.deliveries USING btree (timezone('UTC'::text, due_at), id) WHERE (due_at IS NOT NULL)
  CREATE INDEX deliveries_ready ON holdfast_internal.deliveries USING btree (lane_id, priority, id) WHERE (lane_id IS NOT NULL)
table holdfast_internal.endpoint_secrets
  lane_id integer not null
  field text not null
  version integer not null
  key_id text not null
  sealed bytea not null
  set_at timestamp with time zone not null default clock_timestamp()
  expires_at timestamp with time zone
  constraint endpoint_secrets_lane_id_fkey FOREIGN KEY (lane_id) REFERENCES holdfast_internal.endpoints(id) ON DELETE CASCADE
  constraint endpoint_secrets_pkey PRIMARY KEY (lane_id, field, version)
  CREATE INDEX endpoint_secrets_expiry ON holdfast_internal.endpoint_secrets USING btree (expires_at) WHERE (expires_at IS NOT NULL)
  CREATE INDEX endpoint_secrets_key ON holdfast_internal.endpoint_secrets USING btree (key_id, lane_id, field, version) WHERE (key_id IS NOT NULL)
table holdfast_internal.endpoints
  id integer not null default nextval('holdfast_internal.lanes'::regclass)
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
  CREATE INDEX endpoints_changed ON holdfast_internal.endpoints USING btree (changed_xid)
  CREATE INDEX endpoints_inactive ON holdfast_internal.endpoints USING btree (name) WHERE (state <> 'active'::text)
  CREATE INDEX endpoints_reenable ON holdfast_internal.endpoints USING btree (reenable_at) WHERE (reenable_at IS NOT NULL)
  CREATE INDEX endpoints_shard ON holdfast_internal.endpoints USING btree (((id & 255)))
  CREATE INDEX endpoints_tenant ON holdfast_internal.endpoints USING btree (tenant) WHERE (tenant IS NOT NULL)
  CREATE TRIGGER endpoints_note_change BEFORE UPDATE ON holdfast_internal.endpoints FOR EACH ROW EXECUTE FUNCTION holdfast_internal.note_change()
table holdfast_internal.event_sources
  id integer not null generated always as identity
  name text not null
  type text not null
  config jsonb not null
  state text not null default 'active'::text
  state_reason text
  state_changed_at timestamp with time zone not null default clock_timestamp()
  version bigint not null default 1
  created_at timestamp with time zone not null default clock_timestamp()
  updated_at timestamp with time zone not null default clock_timestamp()
  constraint event_sources_name_key UNIQUE (name)
  constraint event_sources_pkey PRIMARY KEY (id)
  constraint event_sources_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'rejecting'::text])))
table holdfast_internal.event_types
  name text not null
  description text
  schema jsonb
  criticality smallint
  created_at timestamp with time zone not null default now()
  updated_at timestamp with time zone not null default now()
  changed_xid xid8 not null default pg_current_xact_id()
  constraint event_types_name_check CHECK (((length(name) <= 255) AND (name ~ '^[A-Za-z0-9_][A-Za-z0-9_-]*([.][A-Za-z0-9_-]+)*$'::text)))
  constraint event_types_pkey PRIMARY KEY (name)
  CREATE INDEX event_types_changed ON holdfast_internal.event_types USING btree (changed_xid)
table holdfast_internal.idempotency_keys with (autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=10000, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=10000)
  scope text not null
  key text not null
  body_hash text not null
  result jsonb not null
  expires_at timestamp with time zone not null
  constraint idempotency_keys_pkey PRIMARY KEY (scope, key)
  CREATE INDEX idempotency_keys_expiry ON holdfast_internal.idempotency_keys USING btree (expires_at)
  CREATE INDEX idempotency_keys_held ON holdfast_internal.idempotency_keys USING btree ((((result ->> 0))::bigint)) WHERE (expires_at = 'infinity'::timestamp with time zone)
table holdfast_internal.in_flight with (fillfactor=50)
  incarnation integer not null
  ids bigint[] not null
  started_at timestamp with time zone[] not null
  noted_at timestamp with time zone not null default clock_timestamp()
  constraint in_flight_pkey PRIMARY KEY (incarnation)
table holdfast_internal.job_declarations
  id bigint not null generated always as identity
  job_id integer not null
  settings jsonb not null
  seen_at timestamp with time zone not null default clock_timestamp()
  constraint job_declarations_job_id_fkey FOREIGN KEY (job_id) REFERENCES holdfast_internal.jobs(id) ON DELETE CASCADE
  constraint job_declarations_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX job_declarations_settings ON holdfast_internal.job_declarations USING btree (job_id, md5((settings)::text))
table holdfast_internal.jobs with (fillfactor=70)
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
  declaration_id bigint
  unhandled_since timestamp with time zone
  unhandled_swept_to bigint
  former_scan jsonb
  former_seen_at timestamp with time zone
  constraint jobs_name_check CHECK ((name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,126}$'::text))
  constraint jobs_name_key UNIQUE (name)
  constraint jobs_pkey PRIMARY KEY (id)
  constraint jobs_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES holdfast_internal.queues(id)
  constraint jobs_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text])))
  CREATE INDEX jobs_inactive ON holdfast_internal.jobs USING btree (queue_id) WHERE (state <> 'active'::text)
  CREATE INDEX jobs_queue ON holdfast_internal.jobs USING btree (queue_id)
  CREATE INDEX jobs_reenable ON holdfast_internal.jobs USING btree (reenable_at) WHERE (reenable_at IS NOT NULL)
  CREATE INDEX jobs_unparking ON holdfast_internal.jobs USING btree (id) WHERE (unpark_from IS NOT NULL)
  CREATE TRIGGER jobs_note_move BEFORE UPDATE OF queue_id ON holdfast_internal.jobs FOR EACH ROW WHEN ((old.queue_id <> new.queue_id)) EXECUTE FUNCTION holdfast_internal.note_move()
table holdfast_internal.keeper_rounds with (fillfactor=50)
  name text not null
  next_at timestamp with time zone not null
  position bigint not null default 0
  constraint keeper_rounds_pkey PRIMARY KEY (name)
table holdfast_internal.key_rates with (fillfactor=70)
  lane_id integer not null
  key text not null
  paid_until timestamp with time zone not null
  constraint key_rates_pkey PRIMARY KEY (lane_id, key)
  CREATE INDEX key_rates_paid ON holdfast_internal.key_rates USING btree (paid_until)
table holdfast_internal.lane_backlogs with (fillfactor=70)
  lane_id integer not null
  step_seconds integer not null
  starts_at timestamp with time zone not null
  pending bigint not null
  constraint lane_backlogs_pkey PRIMARY KEY (lane_id, step_seconds, starts_at)
  constraint lane_backlogs_step_seconds_check CHECK ((step_seconds = ANY (ARRAY[60, 3600])))
  CREATE INDEX lane_backlogs_age ON holdfast_internal.lane_backlogs USING btree (step_seconds, starts_at)
table holdfast_internal.lane_stats with (fillfactor=50)
  lane_id integer not null
  pending bigint not null default 0
  in_flight integer not null default 0
  oldest_due_at timestamp with time zone
  reported_at timestamp with time zone not null default now()
  constraint lane_stats_pkey PRIMARY KEY (lane_id)
table holdfast_internal.leadership
  is_only boolean not null default true
  term bigint not null default 0
  incarnation integer
  node text
  since timestamp with time zone
  constraint leadership_is_only_check CHECK (is_only)
  constraint leadership_pkey PRIMARY KEY (is_only)
table holdfast_internal.letter_count_changes with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=10000)
  lane_id integer not null
  fingerprint text not null
  state text not null
  is_settled boolean not null
  criticality smallint not null
  letters bigint not null
  CREATE INDEX letter_count_changes_lane ON holdfast_internal.letter_count_changes USING btree (lane_id)
table holdfast_internal.letter_counts with (fillfactor=50)
  lane_id integer not null
  fingerprint text not null
  state text not null
  is_settled boolean not null
  criticality smallint not null
  letters bigint not null
  constraint letter_counts_pkey PRIMARY KEY (lane_id, fingerprint, state, is_settled, criticality)
table holdfast_internal.maintenance_tasks with (fillfactor=50)
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
table holdfast_internal.messages partition by RANGE (id)
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
  erased_at timestamp with time zone
  constraint messages_pkey PRIMARY KEY (id)
  CREATE INDEX messages_correlation ON ONLY holdfast_internal.messages USING btree (correlation_id, id) WHERE (correlation_id IS NOT NULL)
  CREATE INDEX messages_unrouted ON ONLY holdfast_internal.messages USING btree (id) WHERE is_unrouted
table holdfast_internal.messages_default partition DEFAULT with (autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=100000, autovacuum_vacuum_insert_scale_factor=0, autovacuum_vacuum_insert_threshold=100000)
table holdfast_internal.messages_kept
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
  erased_at timestamp with time zone
  constraint messages_kept_pkey PRIMARY KEY (id)
  CREATE INDEX messages_kept_correlation ON holdfast_internal.messages_kept USING btree (correlation_id, id) WHERE (correlation_id IS NOT NULL)
  CREATE INDEX messages_kept_id_idx ON holdfast_internal.messages_kept USING btree (id) WHERE is_unrouted
table holdfast_internal.migrations
  number integer not null
  name text not null
  checksum text not null
  applied_at timestamp with time zone not null default now()
  constraint migrations_pkey PRIMARY KEY (number)
table holdfast_internal.nodes with (fillfactor=50)
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
table holdfast_internal.notices
  id bigint not null generated always as identity
  channel text not null
  payload text not null
  at timestamp with time zone not null default now()
  changed_xid xid8 not null default pg_current_xact_id()
  constraint notices_pkey PRIMARY KEY (id)
  CREATE INDEX notices_changed ON holdfast_internal.notices USING btree (changed_xid, id)
table holdfast_internal.operation_deliveries
  operation_id bigint not null
  step bigint not null generated always as identity
  ids int8multirange not null
  constraint operation_deliveries_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES holdfast_internal.operations(id) ON DELETE CASCADE
  constraint operation_deliveries_pkey PRIMARY KEY (operation_id, step)
table holdfast_internal.operations with (fillfactor=50)
  id bigint not null default nextval('holdfast_internal.ids'::regclass)
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
  is_total_exact boolean not null default true
  constraint operations_kind_check CHECK ((kind = ANY (ARRAY['redrive'::text, 'resolve'::text, 'discard'::text, 'replay'::text, 'retry'::text, 'cancel'::text, 'cancel_runs'::text])))
  constraint operations_pkey PRIMARY KEY (id)
  constraint operations_state_check CHECK ((state = ANY (ARRAY['running'::text, 'paused'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text])))
  CREATE INDEX operations_due ON holdfast_internal.operations USING btree (next_step_at) WHERE (state = 'running'::text)
  CREATE INDEX operations_kind ON holdfast_internal.operations USING btree (kind, id)
  CREATE INDEX operations_state ON holdfast_internal.operations USING btree (state, id)
table holdfast_internal.past_workers
  incarnation integer not null
  name text not null
  host text not null
  ended_at timestamp with time zone not null default now()
  constraint past_workers_pkey PRIMARY KEY (incarnation)
  CREATE INDEX past_workers_age ON holdfast_internal.past_workers USING btree (ended_at)
  CREATE INDEX past_workers_name ON holdfast_internal.past_workers USING btree (name, incarnation) WHERE (name IS NOT NULL)
table holdfast_internal.quarantine
  id bigint not null generated always as identity
  at timestamp with time zone not null default now()
  delivery_id bigint not null
  lane_id integer not null
  incarnation integer not null
  record jsonb not null
  error text not null
  tries integer not null default 0
  next_try_at timestamp with time zone not null default (now() + '00:00:30'::interval)
  last_error text
  constraint quarantine_pkey PRIMARY KEY (id)
  CREATE INDEX quarantine_due ON holdfast_internal.quarantine USING btree (next_try_at)
  CREATE INDEX quarantine_lane ON holdfast_internal.quarantine USING btree (lane_id, id)
table holdfast_internal.queue_cursors with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000)
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
  fair_after text
  job_tokens jsonb
  constraint queue_cursors_pkey PRIMARY KEY (lane_id, seq)
table holdfast_internal.queue_depths with (fillfactor=50)
  lane_id integer not null
  runs bigint not null
  counting bigint not null default 0
  counted_at timestamp with time zone not null default clock_timestamp()
  constraint queue_depths_pkey PRIMARY KEY (lane_id)
table holdfast_internal.queues
  id integer not null default nextval('holdfast_internal.lanes'::regclass)
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
table holdfast_internal.replays
  ids int8multirange not null
  operation_id bigint
  created_at timestamp with time zone not null default now()
  CREATE INDEX replays_age ON holdfast_internal.replays USING btree (created_at)
  CREATE INDEX replays_ids ON holdfast_internal.replays USING gist (ids)
  CREATE INDEX replays_operation ON holdfast_internal.replays USING btree (operation_id)
table holdfast_internal.retiring_partitions
  name text not null
  parent text not null
  from_id bigint not null
  to_id bigint not null
  marked_at timestamp with time zone not null default now()
  constraint retiring_partitions_pkey PRIMARY KEY (name)
table holdfast_internal.rollup_flushes with (fillfactor=50)
  incarnation integer not null
  flush bigint not null
  constraint rollup_flushes_pkey PRIMARY KEY (incarnation)
table holdfast_internal.rollups with (fillfactor=70)
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
  CREATE INDEX rollups_age ON holdfast_internal.rollups USING btree (period, starts_at)
table holdfast_internal.routes
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
  former_lanes integer[] default '{}'::integer[]
  constraint routes_check CHECK ((num_nonnulls(exact_type, like_pattern, regex) = 1))
  constraint routes_lane_id_fkey FOREIGN KEY (lane_id) REFERENCES holdfast_internal.endpoints(id)
  constraint routes_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9._:-]{0,126}$'::text))
  constraint routes_name_key UNIQUE (name)
  constraint routes_pkey PRIMARY KEY (id)
  CREATE INDEX routes_changed ON holdfast_internal.routes USING btree (changed_xid)
  CREATE INDEX routes_exact ON holdfast_internal.routes USING btree (COALESCE(tenant, ''::text), exact_type) WHERE (enabled AND (exact_type IS NOT NULL))
  CREATE INDEX routes_lane ON holdfast_internal.routes USING btree (lane_id)
  CREATE INDEX routes_pattern ON holdfast_internal.routes USING btree (COALESCE(tenant, ''::text)) WHERE (enabled AND (exact_type IS NULL))
  CREATE TRIGGER routes_note_redirect BEFORE UPDATE OF lane_id ON holdfast_internal.routes FOR EACH ROW WHEN ((old.lane_id <> new.lane_id)) EXECUTE FUNCTION holdfast_internal.note_redirect()
table holdfast_internal.run_bundles with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000)
  lane_id integer not null
  priority smallint not null
  last_id bigint not null
  first_id bigint not null
  job_id integer not null
  published_by xid8 not null
  ordering_keys text[]
  before_keys bigint
  constraint run_bundles_last_id_key UNIQUE (last_id)
  constraint run_bundles_pkey PRIMARY KEY (lane_id, priority, last_id)
  constraint run_bundles_priority_check CHECK (((priority >= 0) AND (priority <= 3)))
  CREATE INDEX run_bundles_ordered ON holdfast_internal.run_bundles USING btree (lane_id, last_id) WHERE (ordering_keys IS NOT NULL)
table holdfast_internal.run_cancellations
  run_id bigint not null
  worker integer not null
  reason text
  requested_at timestamp with time zone not null default now()
  constraint run_cancellations_pkey PRIMARY KEY (run_id)
  CREATE INDEX run_cancellations_worker ON holdfast_internal.run_cancellations USING btree (worker)
table holdfast_internal.run_claims with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000)
  id bigint not null
  lane_id integer not null
  worker integer not null
  request bigint not null default 0
  claimed_at timestamp with time zone not null default clock_timestamp()
  run_ids bigint[] not null
  bundled int8multirange not null default '{}'::int8multirange
  dispatched_for integer
  published_at timestamp with time zone
  unstarted_until timestamp with time zone
  may_move boolean not null default false
  constraint run_claims_pkey PRIMARY KEY (id)
  CREATE INDEX run_claims_dispatched ON holdfast_internal.run_claims USING btree (id) WHERE (worker = 0)
  CREATE INDEX run_claims_lane ON holdfast_internal.run_claims USING btree (lane_id)
  CREATE INDEX run_claims_worker ON holdfast_internal.run_claims USING btree (worker)
table holdfast_internal.run_progress with (fillfactor=50)
  run_id bigint not null
  attempt integer not null
  worker integer not null
  progress jsonb
  logs jsonb not null default '[]'::jsonb
  updated_at timestamp with time zone not null default now()
  constraint run_progress_pkey PRIMARY KEY (run_id)
table holdfast_internal.runs with (autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=10000, autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=10000)
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
  is_aside boolean not null default false
  fair_key text
  constraint runs_pkey PRIMARY KEY (id)
  constraint runs_priority_check CHECK (((priority >= 0) AND (priority <= 3)))
  CREATE INDEX runs_aside ON holdfast_internal.runs USING btree (lane_id, job_id, priority, id) WHERE (is_aside AND (due_at = 'infinity'::timestamp with time zone) AND (claim_id IS NULL))
  CREATE INDEX runs_concurrent ON holdfast_internal.runs USING btree (concurrency_key, lane_id, claim_id, id) WHERE (concurrency_key IS NOT NULL)
  CREATE INDEX runs_concurrent_parked ON holdfast_internal.runs USING btree (concurrency_key, lane_id, id) WHERE ((concurrency_key IS NOT NULL) AND (due_at = 'infinity'::timestamp with time zone) AND (claim_id IS NULL) AND (NOT is_aside))
  CREATE INDEX runs_due ON holdfast_internal.runs USING btree (lane_id, priority, due_at) WHERE ((due_at IS NOT NULL) AND (target IS NULL) AND (crashes = 0))
  CREATE INDEX runs_expiring ON holdfast_internal.runs USING btree (expires_at) WHERE (expires_at IS NOT NULL)
  CREATE INDEX runs_fair ON holdfast_internal.runs USING btree (lane_id, fair_key, priority DESC, id) WHERE ((fair_key IS NOT NULL) AND (due_at = 'infinity'::timestamp with time zone) AND (claim_id IS NULL) AND (NOT is_aside))
  CREATE INDEX runs_fair_due ON holdfast_internal.runs USING btree (lane_id, due_at) WHERE ((fair_key IS NOT NULL) AND (due_at < 'infinity'::timestamp with time zone) AND (claim_id IS NULL) AND (target IS NULL) AND (crashes = 0))
  CREATE INDEX runs_fresh ON holdfast_internal.runs USING btree (lane_id, priority, id) WHERE (due_at IS NULL)
  CREATE INDEX runs_message ON holdfast_internal.runs USING btree (message_id) WHERE (message_id IS NOT NULL)
  CREATE INDEX runs_ordered ON holdfast_internal.runs USING btree (ordering_key, lane_id, id) WHERE (ordering_key IS NOT NULL)
  CREATE INDEX runs_ordered_out ON holdfast_internal.runs USING btree (ordering_key, lane_id) WHERE ((ordering_key IS NOT NULL) AND (claim_id IS NOT NULL))
  CREATE INDEX runs_parked ON holdfast_internal.runs USING btree (id) WHERE ((due_at = 'infinity'::timestamp with time zone) AND (claim_id IS NULL) AND (NOT is_aside) AND (fair_key IS NULL))
  CREATE INDEX runs_suspect ON holdfast_internal.runs USING btree (lane_id, priority DESC, due_at) WHERE ((due_at IS NOT NULL) AND (crashes > 0))
  CREATE INDEX runs_targeted ON holdfast_internal.runs USING btree (lane_id, target, due_at) WHERE (target IS NOT NULL)
  CREATE INDEX runs_ttl ON holdfast_internal.runs USING btree (ttl_at) WHERE (ttl_at IS NOT NULL)
table holdfast_internal.schedules with (fillfactor=70)
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
  constraint schedules_job_id_fkey FOREIGN KEY (job_id) REFERENCES holdfast_internal.jobs(id)
  constraint schedules_name_check CHECK ((name ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,126}$'::text))
  constraint schedules_name_key UNIQUE (name)
  constraint schedules_overlap_check CHECK ((overlap = ANY (ARRAY['skip'::text, 'queue'::text, 'allow'::text])))
  constraint schedules_pkey PRIMARY KEY (id)
  CREATE INDEX schedules_due ON holdfast_internal.schedules USING btree (next_at) WHERE ((next_at IS NOT NULL) AND (NOT is_paused))
  CREATE INDEX schedules_job ON holdfast_internal.schedules USING btree (job_id)
  CREATE INDEX schedules_spent ON holdfast_internal.schedules USING btree (run_at) WHERE ((run_at IS NOT NULL) AND (next_at IS NULL))
table holdfast_internal.setting_pins
  incarnation integer not null
  name text not null
  source text not null
  constraint setting_pins_incarnation_fkey FOREIGN KEY (incarnation) REFERENCES holdfast_internal.nodes(incarnation) ON DELETE CASCADE
  constraint setting_pins_pkey PRIMARY KEY (incarnation, name)
table holdfast_internal.settings
  name text not null
  value jsonb not null
  changed_at timestamp with time zone
  changed_by text
  constraint settings_pkey PRIMARY KEY (name)
  CREATE TRIGGER settings_checked BEFORE INSERT OR UPDATE ON holdfast_internal.settings FOR EACH ROW EXECUTE FUNCTION holdfast_internal.check_setting()
table holdfast_internal.shard_leases with (fillfactor=50)
  shard smallint not null
  incarnation integer
  epoch bigint not null default 0
  is_suspect boolean not null default false
  constraint shard_leases_pkey PRIMARY KEY (shard)
  constraint shard_leases_shard_check CHECK (((shard >= 0) AND (shard <= 255)))
table holdfast_internal.sign_in_links
  token_hash bytea not null
  expires_at timestamp with time zone not null
  constraint sign_in_links_pkey PRIMARY KEY (token_hash)
table holdfast_internal.site_rollups with (fillfactor=50)
  step_seconds integer not null
  starts_at timestamp with time zone not null
  accepted bigint
  backlog bigint
  attempts bigint not null default 0
  successes bigint not null default 0
  throttled bigint not null default 0
  latencies integer[] not null default '{}'::integer[]
  constraint site_rollups_pkey PRIMARY KEY (step_seconds, starts_at)
  constraint site_rollups_step_seconds_check CHECK ((step_seconds = ANY (ARRAY[60, 900, 3600])))
table holdfast_internal.source_rejects
  id bigint not null generated always as identity
  source_id integer not null
  received_at timestamp with time zone not null default clock_timestamp()
  message_id text
  correlation_id text
  code text not null
  error text not null
  fields json not null
  body bytea not null
  tries integer not null default 0
  last_tried_at timestamp with time zone
  constraint source_rejects_pkey PRIMARY KEY (id)
  constraint source_rejects_source_id_fkey FOREIGN KEY (source_id) REFERENCES holdfast_internal.event_sources(id)
  CREATE INDEX source_rejects_source ON holdfast_internal.source_rejects USING btree (source_id, id) WHERE (source_id IS NOT NULL)
table holdfast_internal.source_reports with (fillfactor=70)
  source_id integer not null
  incarnation bigint not null
  node text not null
  state text not null
  error text
  since timestamp with time zone not null
  received bigint not null
  published bigint not null
  rejected bigint not null
  unacknowledged integer not null
  reported_at timestamp with time zone not null default clock_timestamp()
  constraint source_reports_pkey PRIMARY KEY (source_id, incarnation)
  constraint source_reports_source_id_fkey FOREIGN KEY (source_id) REFERENCES holdfast_internal.event_sources(id) ON DELETE CASCADE
table holdfast_internal.source_revision
  is_only boolean not null default true
  revision integer not null
  checksum text
  version text not null
  applied_at timestamp with time zone not null default now()
  constraint source_revision_is_only_check CHECK (is_only)
  constraint source_revision_pkey PRIMARY KEY (is_only)
table holdfast_internal.sources
  kind text not null
  name text not null
  table text
  checksum text not null
  constraint sources_pkey PRIMARY KEY (name)
table holdfast_internal.suspects
  delivery_id bigint not null
  lane_id integer not null
  incarnation integer
  crashes integer not null
  constraint suspects_pkey PRIMARY KEY (delivery_id)
  CREATE INDEX suspects_lane ON holdfast_internal.suspects USING btree (lane_id)
table holdfast_internal.workers with (fillfactor=50)
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
  job_ids integer[]
  declaration_ids bigint[]
  blocked_runs bigint[]
  blocked_at timestamp with time zone
  via text not null default 'database'::text
  constraint workers_pkey PRIMARY KEY (incarnation)
  constraint workers_state_check CHECK ((state = ANY (ARRAY['active'::text, 'draining'::text, 'stopping'::text])))
  constraint workers_via_check CHECK ((via = ANY (ARRAY['database'::text, 'broker'::text])))
view holdfast.attempts (delivery_id, message_id, started_at, attempt, lane_id, route_id, duration_ms, outcome, status_code, is_probe, error_code, error)
view holdfast.audit_log (id, at, actor, action, subject, detail)
view holdfast.circuit_changes (id, at, endpoint, from_state, to_state, version, actor, probes, last_probe_at)
view holdfast.dead_letters (id, delivery_id, message_id, lane_id, route_id, state, reason, outcome, status_code, error_code, error, criticality, priority, attempt, attempts, request, ordering_key, redrives, redriven_delivery_id, created_at, settled_at, settled_by, note, action, fingerprint)
view holdfast.maintenance_tasks (name, schedule, next_run_at, requested_at, running_since, node, last_started_at, last_duration_ms, last_succeeded_at, last_failed_at, last_error, failures, summary)
view holdfast.messages (id, created_at, type, tenant, correlation_id, ordering_key, criticality, is_unrouted, is_run, size, headers, metadata, body)
view holdfast.owed_runs (id, queue, job, attempt, crashes, priority, is_claimed, due_at, expires_at, ordering_key, concurrency_key, target, correlation_id)
view holdfast.settings (name, value)
view holdfast_internal.owed_runs (id, published_by, lane_id, job_id, attempt, crashes, priority, criticality, message_id, claim_id, due_at, expires_at, ttl_at, ttl_ms, dead_letter_id, ordering_key, concurrency_key, target, is_aside, fair_key)
view holdfast_internal.waiting_bundles (lane_id, priority, last_id, job_id, published_by, first_id, ordering_keys, before_keys)
