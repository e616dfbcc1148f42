-- What the migrations make, by scripts/dump-schema.mjs. Not run by anything: read its diffs.
sequence audit_log_id_seq as bigint start 1 min 1
sequence ids as bigint start 1 min 1
sequence incarnations as integer start 1 min 1
sequence lanes as integer start 1 min 1
sequence quarantine_id_seq as bigint start 1 min 1
sequence routes_id_seq as integer start 1 min 1
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
  blocks_key boolean not null default false
  redrives integer not null default 0
  redriven_delivery_id bigint
  created_at timestamp with time zone not null default now()
  settled_at timestamp with time zone
  settled_by text
  note text
  action text
  constraint dead_letters_delivery_id_key UNIQUE (delivery_id)
  constraint dead_letters_pkey PRIMARY KEY (id)
  constraint dead_letters_state_check CHECK ((state = ANY (ARRAY['open'::text, 'redriven'::text, 'resolved'::text, 'discarded'::text])))
  CREATE INDEX dead_letters_blocking ON holdfast.dead_letters USING btree (lane_id, ordering_key) WHERE (blocks_key AND (state = ANY (ARRAY['open'::text, 'redriven'::text])))
  CREATE INDEX dead_letters_lane ON holdfast.dead_letters USING btree (lane_id, state, id)
  CREATE INDEX dead_letters_message ON holdfast.dead_letters USING btree (message_id)
  CREATE INDEX dead_letters_redriven ON holdfast.dead_letters USING btree (redriven_delivery_id) WHERE (redriven_delivery_id IS NOT NULL)
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
  ordering_key text
  constraint deliveries_pkey PRIMARY KEY (id)
  constraint deliveries_priority_check CHECK (((priority >= 0) AND (priority <= 3)))
  CREATE INDEX deliveries_expiring ON holdfast.deliveries USING btree (lane_id, expires_at) WHERE (expires_at IS NOT NULL)
  CREATE INDEX deliveries_keyed ON holdfast.deliveries USING btree (ordering_key, lane_id, id) WHERE (ordering_key IS NOT NULL)
  CREATE INDEX deliveries_message ON holdfast.deliveries USING btree (message_id) WHERE (message_id <> id)
  CREATE INDEX deliveries_ready ON holdfast.deliveries USING btree (lane_id, priority, id)
  CREATE INDEX deliveries_scheduled ON holdfast.deliveries USING btree (lane_id, due_at) WHERE (due_at IS NOT NULL)
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
table lane_stats with (fillfactor=50)
  lane_id integer not null
  pending bigint not null default 0
  in_flight integer not null default 0
  oldest_due_at timestamp with time zone
  reported_at timestamp with time zone not null default now()
  constraint lane_stats_pkey PRIMARY KEY (lane_id)
table messages partition by RANGE (id)
  id bigint not null
  created_at timestamp with time zone not null default now()
  criticality smallint not null default 1
  is_unrouted boolean not null default false
  needs_check boolean not null default false
  size integer not null
  type text
  tenant text
  correlation_id text
  headers jsonb
  metadata jsonb
  body json not null
  constraint messages_pkey PRIMARY KEY (id)
  CREATE INDEX messages_unrouted ON ONLY holdfast.messages USING btree (id) WHERE is_unrouted
table messages_default partition DEFAULT
table messages_kept
  id bigint not null
  created_at timestamp with time zone not null default now()
  criticality smallint not null default 1
  is_unrouted boolean not null default false
  needs_check boolean not null default false
  size integer not null
  type text
  tenant text
  correlation_id text
  headers jsonb
  metadata jsonb
  body json not null
  constraint messages_kept_pkey PRIMARY KEY (id)
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
table quarantine
  id bigint not null generated always as identity
  at timestamp with time zone not null default now()
  delivery_id bigint not null
  lane_id integer not null
  incarnation integer not null
  record jsonb not null
  error text not null
  constraint quarantine_pkey PRIMARY KEY (id)
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
table suspects
  delivery_id bigint not null
  lane_id integer not null
  incarnation integer
  crashes integer not null
  constraint suspects_pkey PRIMARY KEY (delivery_id)
  CREATE INDEX suspects_lane ON holdfast.suspects USING btree (lane_id)
function abandon_probe(lane integer, token text) returns void language sql md5 74dfa8265e35d93970c4213774c549b2
function accept_events(event_types text[], bodies text[], message_options jsonb[] DEFAULT NULL::jsonb[], are_checked boolean DEFAULT false) returns TABLE(message_id bigint, deliveries integer, held integer) language plpgsql md5 0db1eb48436e0ce971dcafa4fa87ef45
function accept_lines(endpoint_name text, lines text, message_options jsonb[] DEFAULT NULL::jsonb[]) returns text language sql md5 2f327799e508e04c9593e1c959cea1bd
function accept_messages(endpoint_name text, bodies text[], message_options jsonb[] DEFAULT NULL::jsonb[]) returns SETOF bigint language plpgsql md5 7889b681352188074df80f1433a3802b
function accept_with_options(lane integer, lane_tenant text, bodies text[], message_options jsonb[], is_full boolean) returns SETOF bigint language plpgsql md5 ee62a15fe6fa37bcc3b1ea87f2dc4f52
function advance_ids() returns boolean language plpgsql set search_path=pg_catalog md5 7a6bc8c122780f23c0316ccc8f76c85e
function audit(who text, what text, about text, more jsonb DEFAULT '{}'::jsonb) returns void language sql md5 e91c45669ebb9fa4ea44afbdf45d0ca7
function beat(me integer, owed bigint) returns TABLE(is_known boolean, nodes jsonb, owners integer[], epochs bigint[], suspects boolean[]) language plpgsql md5 51e4675d52451ed5e0c7d05a29ad0eb3
function bury_deliveries(records jsonb, owned integer[]) returns integer language plpgsql md5 b4b37a138d6b15cf1a0cdaeac0762c2a
function bury_node(dead integer, seen_beat bigint) returns boolean language plpgsql md5 bfd025ec32f372ea5367770f14944919
function cancel_deliveries(lane integer, only_route integer, why text) returns bigint language plpgsql md5 aa6c00b1874984c97bf02cac9be95233
function check_bound(added bigint) returns void language plpgsql stable md5 dbcecfc3f91dedc78f0220fa135340ac
function check_events(event_types text[], bodies text[], message_options jsonb[]) returns void language plpgsql stable md5 93c5fa43c3e3119c46e686b040f083d9
function check_options(options jsonb) returns void language plpgsql immutable md5 e94d2647554876506e5d91842e67c47b
function claim_idempotency_key(key_scope text, idempotency_key text, prefix text, body text, new_result bigint[]) returns bigint[] language plpgsql md5 e1f18f784b9205581e82ecc222385492
function clear_suspicion(me integer, shards integer[]) returns void language sql md5 d422fefe20938b682f1e9a377d947f0c
function close_pause(pauses jsonb) returns jsonb language sql md5 e3f9a315ce397167e07a41e766a86157
function create_partition(parent text, month date) returns boolean language plpgsql set search_path=pg_catalog md5 ed0f7efd0fc5286825fcc4e6cb753ac4
function criticality_code(word text) returns smallint language sql immutable parallel safe md5 9180e7b219d6fcd361f64ba1d09fb494
function delete_endpoint(endpoint_name text, force boolean DEFAULT false, actor text DEFAULT CURRENT_USER) returns bigint language plpgsql md5 9da3c2202e2601fbb7a4b8c49891a8d4
function delete_route(route_name text, force boolean DEFAULT false, actor text DEFAULT CURRENT_USER) returns bigint language plpgsql md5 ef91cf2b87f29762deb8708371371630
function endpoint_health(endpoint_name text DEFAULT NULL::text) returns TABLE(endpoint text, state text, reason text, circuit text, failures integer, opened_at timestamp with time zone, probe_at timestamp with time zone, held_until timestamp with time zone, pending bigint, in_flight integer, oldest_due_at timestamp with time zone, dead_letters bigint) language sql stable md5 324e3c59f1a9e4e3b61d1cbb3246936e
function failure_records(records jsonb) returns TABLE(id bigint, message bigint, lane integer, epoch bigint, route integer, attempt integer, expected integer, outcome smallint, status smallint, "ageMs" double precision, "durationMs" integer, "errorCode" text, error text, detail jsonb, action text, "delayMs" double precision, reason text, "isProbe" boolean, "isCounted" boolean, "isTried" boolean, "blocksKey" boolean) language sql immutable md5 c7d2dae8935b70fa83de43183a4674e4
function format_id(prefix text, id bigint) returns text language sql immutable parallel safe md5 82133be8effe0335b9b030d44fabdf7b
function id_at(at timestamp with time zone) returns bigint language sql immutable parallel safe md5 4421b8f4cb74badd19bb6c5a67112ac8
function lock_incarnation_shared(incarnation integer) returns void language sql md5 c5feb969b5b873f97421616e2d1545a2
function maintain_partitions(months_ahead integer DEFAULT 3) returns integer language plpgsql set search_path=pg_catalog md5 32a7235724390824e98044b687f75f09
function matching_routes(wanted_type text, wanted_tenant text) returns SETOF holdfast.routes language sql stable md5 88d4232e9cc7a691f25d0593bf38a352
function note_change() returns trigger language plpgsql md5 44238258c1198c85fad3e5dfc37898ad
function open_pause(pauses jsonb) returns jsonb language sql md5 488bf3f9c0021a69ddd81e6bca09f09b
function owned_lanes(me integer, lanes integer[], lane_epochs bigint[]) returns integer[] language sql stable md5 387bc932de5c67e76f57b10763d72060
function parse_id(prefix text, id text) returns bigint language plpgsql immutable parallel safe md5 6b2409ed46d6177713281504265bb6c8
function publish(type text, payload jsonb, options jsonb DEFAULT NULL::jsonb) returns text language sql md5 b033f76a5b12fe85a822189ccce44245
function publish_batch(events jsonb) returns SETOF text language plpgsql md5 22786ccafffabafa2e452b191209857e
function record_run(lane integer, circuit jsonb, run jsonb, health jsonb, suspension jsonb, actor text) returns boolean language plpgsql md5 3c7c70504432c962dfad3295047cb070
function record_suspects(me integer, delivery_ids bigint[], lanes integer[]) returns void language sql md5 69aa9fe43ae865026ad3cf2968883c34
function reenable_endpoints(actor text) returns SETOF text language sql md5 6d5903dcd1ac1dd52856d8f0331c07a7
function register_node(node_name text, node_version text) returns integer language sql md5 7ed6fec3562f95293945a30399b7a482
function release_shards(me integer, shards integer[]) returns integer language plpgsql md5 f00960a3c1858cfe04d77f1485f8f6bd
function reset_circuit_breaker(name text, actor text DEFAULT CURRENT_USER) returns boolean language plpgsql md5 5a3aaa462b9bfe0feff9539f6a5d5003
function retire_node(me integer) returns void language plpgsql md5 41a3dbba8cb19d968963caf4f6ea9db7
function ring(lane_ids integer[]) returns void language plpgsql md5 d1dc8494d51baa5122b5d136fb0960ea
function send(endpoint text, payload jsonb, options jsonb DEFAULT NULL::jsonb) returns text language sql md5 eef8f215c5759735022c22d6b5cde8de
function send_batch(endpoint text, payloads jsonb[], options jsonb DEFAULT NULL::jsonb) returns SETOF text language sql md5 5e2b0753103969e1835dfb155944bb98
function set_endpoint_state(endpoint_name text, new_state text, why text DEFAULT NULL::text, actor text DEFAULT CURRENT_USER) returns text language plpgsql md5 1473e38ef47f9398bdb6541be215abfa
function setting_integer(setting text) returns bigint language sql stable parallel safe md5 36225c43315a50696c3dd9d1e1c342a3
function settle_failures(me integer, batch bigint, records jsonb, runs jsonb) returns bigint[] language plpgsql md5 736a00acde6e8e511b90902c16db84fb
function settle_late_successes(delivery_ids bigint[]) returns bigint[] language plpgsql md5 50299e6f048dbe8038302ce6197aafd2
function settle_successes(me integer, delivery_ids bigint[], message_ids bigint[], lanes integer[], route_ids integer[], attempt_numbers integer[], ages_ms double precision[], durations_ms integer[], status_codes integer[]) returns bigint[] language plpgsql md5 c923260ed0c716790b0b70cc874bb942
function start_probe(lane integer, token text, timeout_ms double precision) returns bigint language sql md5 1b72f22c511c508522cca4c459bcc9a6
function suspend_endpoint(lane integer, new_state text, why text, reenable_ms double precision, actor text) returns boolean language plpgsql md5 69e3852f5b15327f42eb32710101b1d0
function take_shards(me integer, from_incarnation integer, seen_beat bigint, shards integer[]) returns TABLE(shard smallint, epoch bigint, is_suspect boolean) language plpgsql md5 c4ce5104b9c8a2402bc89eb7ef45a284
function time_of_id(id bigint) returns timestamp with time zone language sql immutable parallel safe md5 5b7e0544fc27d799bd429586ebf90a53
