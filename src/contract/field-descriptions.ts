// Written by npm run openapi from the doc comments of the SDK's types. Don't edit.
export const fieldDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  RetryInput: {
    strategy: 'How delays grow: `exponential` (default), `linear`, `fixed`, or your own `schedule`.',
    baseDelayMs: 'The delay before the first retry, in milliseconds.',
    maxDelayMs: 'The longest delay, in milliseconds.',
    incrementMs: 'The increment of `linear`, in milliseconds.',
    maxRetries: 'Number of attempts after the first.',
    jitter: 'How delays are spread: `full` (default), `equal` or `none`.',
    giveUpAfterMs:
      'After this time, in milliseconds from acceptance, an undelivered message becomes a dead letter. Pauses do not count.',
    delaysMs: 'The delays of `schedule`, in milliseconds.',
  },
  RequestPolicyInput: {
    maxRetries: 'Number of attempts after the first.',
    baseDelayMs: 'The delay before the first retry, in milliseconds.',
    maxDelayMs: 'The longest delay, in milliseconds.',
    jitter: 'How delays are spread: `full` (default), `equal`, or `none` for exact ones.',
    deadlineMs: 'Deadline for all attempts together, in milliseconds.',
    retryOn: 'HTTP statuses to retry on, in addition to network failures.',
  },
  CircuitInput: {
    threshold: 'Number of health failures in a row that open the circuit.',
    cooldownMs: 'How long the circuit stays open before a probe is sent, in milliseconds.',
  },
  LimitsInput: {
    concurrency: 'Maximum number of attempts in flight, over all nodes.',
    ratePerSecond: 'Maximum number of attempts per second, over all nodes; null: no limit.',
    maxPending: 'Maximum number of pending deliveries.',
    onFull:
      'What happens beyond that: the message becomes a dead letter at once (default), or the publish is rejected.',
  },
  AutoDisableInput: {
    onGone: 'Whether to disable the endpoint when the receiver answers 410.',
    threshold: 'Number of failures in a row within the window that disable it; null: never.',
    windowMs: 'The window, in milliseconds.',
    reenableAfterMs: 'Time until it is enabled again, in milliseconds; null: only manually.',
  },
  BatchInput: {
    maxMessages: 'Maximum number of messages in a batch.',
    maxBytes: 'Maximum size of the rendered messages in a batch, in bytes; null: no limit.',
    maxWaitMs: 'How long the first message may wait for others, in milliseconds.',
  },
  SettingInputs: {
    retry: 'When failed deliveries are retried.',
    request: 'How `request()` retries while its caller waits.',
    circuit: 'When the circuit opens, and for how long.',
    limits: 'Limits on concurrency, rate and pending deliveries.',
    autoDisable: 'When the endpoint is disabled automatically.',
    onDead:
      'What a dead letter does to its ordering key: frees it (`continue`, default), or blocks it until the dead letter is settled (`block`).',
    batch: 'Batching of several messages into one request; null: one message per request.',
    holdOn:
      'HTTP statuses that pause the endpoint as `rejecting` at the first such response, like `[401, 403]`.',
  },
  CommonEndpointInput: {
    retry: 'When failed deliveries are retried.',
    request: 'How `request()` retries while its caller waits.',
    circuit: 'When the circuit opens, and for how long.',
    limits: 'Limits on concurrency, rate and pending deliveries.',
    autoDisable: 'When the endpoint is disabled automatically.',
    onDead:
      'What a dead letter does to its ordering key: frees it (`continue`, default), or blocks it until the dead letter is settled (`block`).',
    batch: 'Batching of several messages into one request; null: one message per request.',
    holdOn:
      'HTTP statuses that pause the endpoint as `rejecting` at the first such response, like `[401, 403]`.',
    name: 'The name of the endpoint: 1 to 63 characters of a–z, 0–9, ".", "_" and "-".',
    tenant:
      'The tenant that owns the endpoint. An event with a tenant is delivered only to endpoints of that tenant.',
    tags: 'Tags to find and control several endpoints together; at most 20.',
    contact: 'Contact for incidents.',
    preset: 'A preset of retry, circuit and timeout; `standard` by default.',
    eventTypes: 'Event types to deliver, like `["order.*"]`; creates a route for each.',
  },
  StandardWebhooksSigning: {
    scheme: 'The signature scheme of requests.',
    secret: '`whsec_` and 24 to 64 random bytes as base64; generated and shown once by default.',
  },
  NoSigning: {
    scheme: 'The signature scheme of requests.',
  },
  NoAuth: {
    type: 'The kind of credentials that requests carry.',
  },
  BasicAuth: {
    type: 'The kind of credentials that requests carry.',
    username: 'The user name, without a colon.',
    password: 'The password, stored encrypted.',
  },
  BearerAuth: {
    type: 'The kind of credentials that requests carry.',
    token: 'The token, stored encrypted.',
  },
  ApiKeyAuth: {
    type: 'The kind of credentials that requests carry.',
    header: 'The header that carries the key, `x-api-key` by default.',
    key: 'The key, stored encrypted.',
  },
  OAuth2Auth: {
    type: 'The kind of credentials that requests carry.',
    tokenUrl: 'The URL of the token endpoint.',
    clientId: "The client's id.",
    clientSecret: "The client's secret, stored encrypted.",
    scope: 'The scope to ask for.',
    audience: 'The audience to ask for.',
    sendCredentialsIn: "Where the client's credentials are sent: `header` (default, HTTP Basic) or `body`.",
  },
  TlsInput: {
    cert: 'The client certificate and its chain, as PEM. Requires `key`.',
    key: 'The private key of `cert` as PEM, stored encrypted.',
    passphrase: 'The passphrase of `key`, stored encrypted.',
    ca: 'Certificates to trust instead of the well-known ones, as PEM.',
  },
  HttpConfigInput: {
    url: 'The absolute URL of requests, `http:` or `https:`, without user name and password. With a query it is stored as a secret.',
    secretPath:
      'Whether the path of the URL is a secret, as that of a Slack webhook is: the URL is stored encrypted, and only its origin is shown. False by default.',
    method: 'The method of each request, `POST` by default; `GET` is sent without a body.',
    headers: 'Added to each request; values may have placeholders like `{{ order.id }}`.',
    plainHeaders:
      'The names of headers whose values are not secret; all others are stored encrypted and never shown.',
    timeoutMs:
      'One deadline from connect to the last byte of the response, in milliseconds, 10,000 by default.',
    signing:
      'How requests are signed; by default by Standard Webhooks with a generated secret that is shown once.',
    auth: 'Credentials that requests carry, none by default.',
    tls: 'A client certificate, or your own certificate authority.',
    capture: 'Which attempts store their request and response; `errors` by default.',
    maxResponseBytes: 'How much of a response is read, in bytes; 65,536 by default, at most 1 MiB.',
    classify: 'Overrides how statuses are classified, like `{ "409": "success", "4xx": "retryable" }`.',
  },
  HttpEndpointInput: {
    retry: 'When failed deliveries are retried.',
    request: 'How `request()` retries while its caller waits.',
    circuit: 'When the circuit opens, and for how long.',
    limits: 'Limits on concurrency, rate and pending deliveries.',
    autoDisable: 'When the endpoint is disabled automatically.',
    onDead:
      'What a dead letter does to its ordering key: frees it (`continue`, default), or blocks it until the dead letter is settled (`block`).',
    batch: 'Batching of several messages into one request; null: one message per request.',
    holdOn:
      'HTTP statuses that pause the endpoint as `rejecting` at the first such response, like `[401, 403]`.',
    name: 'The name of the endpoint: 1 to 63 characters of a–z, 0–9, ".", "_" and "-".',
    tenant:
      'The tenant that owns the endpoint. An event with a tenant is delivered only to endpoints of that tenant.',
    tags: 'Tags to find and control several endpoints together; at most 20.',
    contact: 'Contact for incidents.',
    preset: 'A preset of retry, circuit and timeout; `standard` by default.',
    eventTypes: 'Event types to deliver, like `["order.*"]`; creates a route for each.',
    transport: 'The transport; `http` by default.',
    config: 'Where and how requests are sent.',
  },
  AmqpPropertiesInput: {
    contentType: 'The content type of the body; by default `application/json` or that of the transform.',
    contentEncoding: 'The content encoding of the body, like `gzip`; Holdfast itself encodes nothing.',
    priority: 'The priority in queues that have priorities, 0 to 255.',
    expirationMs: 'How long the broker keeps the message in a queue, in milliseconds.',
    replyTo: 'The queue for replies.',
    type: "The type of the message; by default the event's type.",
    appId: 'The sending application; `holdfast` by default.',
    userId: "The sending user; the broker rejects any other than the connection's.",
  },
  AmqpConfigInput: {
    url: 'The broker and the virtual host, `amqps://host:5671/vhost` or `amqp://…`. With a password in it, it is stored as a secret.',
    username: "The broker's user, if it is not in the URL; `guest` by default.",
    password: 'The password of `username`, stored encrypted.',
    exchange:
      'The exchange to publish to, which must exist; the empty name is the default exchange, which routes to the queue named by the key.',
    routingKey: "The routing key, with placeholders like `{{ $eventType }}`; by default the event's type.",
    headers: 'Headers of each message, with placeholders. They are not secret.',
    properties: 'Properties of each message.',
    persistent: 'Whether durable queues keep the message when the broker restarts; true by default.',
    mandatory:
      'Whether a message that routes to no queue fails; true by default. With false it counts as delivered and is lost.',
    cloudEvents:
      '`binary` sends each message as a CloudEvent, its attributes as headers; `none` (default) leaves that to a transform.',
    cloudEventsPrefix:
      'The prefix of CloudEvents attributes in the headers in binary mode: `cloudEvents:` (default) or `cloudEvents_`.',
    tls: 'A client certificate, or your own certificate authority; requires `amqps:`.',
    confirmTimeoutMs:
      "One deadline from connect to the broker's confirm, in milliseconds, 10,000 by default.",
    timeoutMs:
      'The same under the name that other transports and the presets have; `confirmTimeoutMs` takes precedence.',
    classify: 'Has no effect: a broker returns no statuses.',
  },
  AmqpEndpointInput: {
    retry: 'When failed deliveries are retried.',
    request: 'How `request()` retries while its caller waits.',
    circuit: 'When the circuit opens, and for how long.',
    limits: 'Limits on concurrency, rate and pending deliveries.',
    autoDisable: 'When the endpoint is disabled automatically.',
    onDead:
      'What a dead letter does to its ordering key: frees it (`continue`, default), or blocks it until the dead letter is settled (`block`).',
    batch: 'Batching of several messages into one request; null: one message per request.',
    holdOn:
      'HTTP statuses that pause the endpoint as `rejecting` at the first such response, like `[401, 403]`.',
    name: 'The name of the endpoint: 1 to 63 characters of a–z, 0–9, ".", "_" and "-".',
    tenant:
      'The tenant that owns the endpoint. An event with a tenant is delivered only to endpoints of that tenant.',
    tags: 'Tags to find and control several endpoints together; at most 20.',
    contact: 'Contact for incidents.',
    preset: 'A preset of retry, circuit and timeout; `standard` by default.',
    eventTypes: 'Event types to deliver, like `["order.*"]`; creates a route for each.',
    transport: 'The transport.',
    config: 'The exchange, and how messages are published to it.',
  },
  FunctionConfigInput: {
    handler: "The name under which the handler is registered; by default the endpoint's name.",
    timeoutMs: 'The deadline of the handler, in milliseconds; 10,000 by default.',
    classify: 'Has no effect: a handler returns no statuses.',
  },
  FunctionEndpointInput: {
    retry: 'When failed deliveries are retried.',
    request: 'How `request()` retries while its caller waits.',
    circuit: 'When the circuit opens, and for how long.',
    limits: 'Limits on concurrency, rate and pending deliveries.',
    autoDisable: 'When the endpoint is disabled automatically.',
    onDead:
      'What a dead letter does to its ordering key: frees it (`continue`, default), or blocks it until the dead letter is settled (`block`).',
    batch: 'Batching of several messages into one request; null: one message per request.',
    holdOn:
      'HTTP statuses that pause the endpoint as `rejecting` at the first such response, like `[401, 403]`.',
    name: 'The name of the endpoint: 1 to 63 characters of a–z, 0–9, ".", "_" and "-".',
    tenant:
      'The tenant that owns the endpoint. An event with a tenant is delivered only to endpoints of that tenant.',
    tags: 'Tags to find and control several endpoints together; at most 20.',
    contact: 'Contact for incidents.',
    preset: 'A preset of retry, circuit and timeout; `standard` by default.',
    eventTypes: 'Event types to deliver, like `["order.*"]`; creates a route for each.',
    transport: 'The transport.',
    config: 'The handler.',
  },
  SmtpConfigInput: {
    to: 'The recipients; at most 20 addresses.',
    from: 'The sender; `holdfast@localhost` by default.',
    timeoutMs: 'The deadline of one e-mail, in milliseconds, 30,000 by default.',
    classify: 'Has no effect: e-mail has no such statuses.',
  },
  SmtpEndpointInput: {
    retry: 'When failed deliveries are retried.',
    request: 'How `request()` retries while its caller waits.',
    circuit: 'When the circuit opens, and for how long.',
    limits: 'Limits on concurrency, rate and pending deliveries.',
    autoDisable: 'When the endpoint is disabled automatically.',
    onDead:
      'What a dead letter does to its ordering key: frees it (`continue`, default), or blocks it until the dead letter is settled (`block`).',
    batch: 'Batching of several messages into one request; null: one message per request.',
    holdOn:
      'HTTP statuses that pause the endpoint as `rejecting` at the first such response, like `[401, 403]`.',
    name: 'The name of the endpoint: 1 to 63 characters of a–z, 0–9, ".", "_" and "-".',
    tenant:
      'The tenant that owns the endpoint. An event with a tenant is delivered only to endpoints of that tenant.',
    tags: 'Tags to find and control several endpoints together; at most 20.',
    contact: 'Contact for incidents.',
    preset: 'A preset of retry, circuit and timeout; `standard` by default.',
    eventTypes: 'Event types to deliver, like `["order.*"]`; creates a route for each.',
    transport: 'The transport.',
    config: 'The recipients and the sender.',
  },
  CustomEndpointInput: {
    retry: 'When failed deliveries are retried.',
    request: 'How `request()` retries while its caller waits.',
    circuit: 'When the circuit opens, and for how long.',
    limits: 'Limits on concurrency, rate and pending deliveries.',
    autoDisable: 'When the endpoint is disabled automatically.',
    onDead:
      'What a dead letter does to its ordering key: frees it (`continue`, default), or blocks it until the dead letter is settled (`block`).',
    batch: 'Batching of several messages into one request; null: one message per request.',
    holdOn:
      'HTTP statuses that pause the endpoint as `rejecting` at the first such response, like `[401, 403]`.',
    name: 'The name of the endpoint: 1 to 63 characters of a–z, 0–9, ".", "_" and "-".',
    tenant:
      'The tenant that owns the endpoint. An event with a tenant is delivered only to endpoints of that tenant.',
    tags: 'Tags to find and control several endpoints together; at most 20.',
    contact: 'Contact for incidents.',
    preset: 'A preset of retry, circuit and timeout; `standard` by default.',
    eventTypes: 'Event types to deliver, like `["order.*"]`; creates a route for each.',
    transport: 'The transport.',
    config: "The transport's settings.",
  },
  EndpointChanges: {
    retry: 'When failed deliveries are retried.',
    request: 'How `request()` retries while its caller waits.',
    circuit: 'When the circuit opens, and for how long.',
    limits: 'Limits on concurrency, rate and pending deliveries.',
    autoDisable: 'When the endpoint is disabled automatically.',
    onDead:
      'What a dead letter does to its ordering key: frees it (`continue`, default), or blocks it until the dead letter is settled (`block`).',
    batch: 'Batching of several messages into one request; null: one message per request.',
    holdOn:
      'HTTP statuses that pause the endpoint as `rejecting` at the first such response, like `[401, 403]`.',
    name: 'The name of the endpoint: 1 to 63 characters of a–z, 0–9, ".", "_" and "-".',
    tenant:
      'The tenant that owns the endpoint. An event with a tenant is delivered only to endpoints of that tenant.',
    tags: 'Tags to find and control several endpoints together; at most 20.',
    contact: 'Contact for incidents.',
    preset: 'A preset of retry, circuit and timeout; `standard` by default.',
    eventTypes: 'Event types to deliver, like `["order.*"]`; creates a route for each.',
    transport: 'The transport.',
    config: "Changes to the transport's settings.",
  },
  MappingInput: {
    eventType: 'The type of the events, like `order.created`, with placeholders.',
    payload:
      'The payload of the events as JSON with placeholders; null (default): the body of the message, which must be JSON.',
    tenant: 'The tenant of the events, with placeholders.',
    orderingKey: 'The ordering key of the events, with placeholders.',
    correlationId: 'The correlation id of the events, with placeholders; by default that of the message.',
    idempotencyKey:
      'What identifies a message, with placeholders, so that it becomes one event only; by default its message id.',
  },
  CommonSourceInput: {
    name: 'The name of the source.',
  },
  AmqpSourceConfigInput: {
    eventType: 'The type of the events, like `order.created`, with placeholders.',
    payload:
      'The payload of the events as JSON with placeholders; null (default): the body of the message, which must be JSON.',
    tenant: 'The tenant of the events, with placeholders.',
    orderingKey: 'The ordering key of the events, with placeholders.',
    correlationId: 'The correlation id of the events, with placeholders; by default that of the message.',
    idempotencyKey:
      'What identifies a message, with placeholders, so that it becomes one event only; by default its message id.',
    url: 'The broker and the virtual host, `amqps://host:5671/vhost` or `amqp://…`. With a password in it, it is stored as a secret.',
    username: "The broker's user, if it is not in the URL; `guest` by default.",
    password: 'The password of `username`, stored encrypted.',
    tls: 'A client certificate, or your own certificate authority; requires `amqps:`.',
    queue: 'The queue to consume, which must exist.',
    prefetch: 'How many unacknowledged messages each node may hold, 1 to 2,000; 100 by default.',
  },
  AmqpSourceInput: {
    name: 'The name of the source.',
    type: 'The type.',
    config: 'The queue, and how its messages become events.',
  },
  SourceChanges: {
    config: 'Changes to the settings of its type.',
  },
  LearningActorInput: {
    type: 'How the learner is named: an `account` on your platform (default), or an e-mail address, plain (`mbox`) or hashed (`mbox_sha1sum`).',
    from: 'Where the name comes from: a keyed `hash` of the user, a `map` in this config, or a `table` of yours.',
    identifier: 'The field of the event that identifies the user: `username` (default) or `user_id`.',
    key: 'The key of `hash`, at least 16 characters, stored encrypted.',
    map: 'The names of `map`, by user; `*` means all others.',
    table: 'The table of `table`, with the columns `key` and `value`, like `public.learners`.',
  },
  LearningCoursesInput: {
    from: 'A `map` in this config, a `table` of yours, or `none`: courses are then named by their ids.',
    map: 'The names of `map`, by course; `*` means all others.',
    table: 'The table of `table`, with the columns `key` and `value`.',
  },
  LearningOverridesInput: {
    verb: 'Instead of the verb.',
    object: 'Instead of the object.',
    extensions: 'Added to the extensions.',
  },
  CommonLearningInput: {
    platformUrl: 'The address of the platform that the events come from, like `https://learn.example`.',
    actor: 'How learners are named.',
    courses: 'How courses are named; by default by their ids.',
    events: 'Names or patterns of the events to transform; all others are skipped.',
    overrides: 'Templates that override parts of the records.',
    ids: "How records are identified: as Holdfast does (default), or as the platform's own transformers do (`compatible`).",
    onUnknown:
      'What happens to an event without a mapping: it becomes a dead letter (default) or is skipped.',
    onAnonymous:
      'What happens to an event without a learner: it becomes a dead letter (default) or is skipped.',
    onInvalid:
      'What happens to an event that lacks a required field: it becomes a dead letter (default) or is skipped.',
  },
  CaliperTransformInput: {
    platformUrl: 'The address of the platform that the events come from, like `https://learn.example`.',
    actor: 'How learners are named.',
    courses: 'How courses are named; by default by their ids.',
    events: 'Names or patterns of the events to transform; all others are skipped.',
    overrides: 'Templates that override parts of the records.',
    ids: "How records are identified: as Holdfast does (default), or as the platform's own transformers do (`compatible`).",
    onUnknown:
      'What happens to an event without a mapping: it becomes a dead letter (default) or is skipped.',
    onAnonymous:
      'What happens to an event without a learner: it becomes a dead letter (default) or is skipped.',
    onInvalid:
      'What happens to an event that lacks a required field: it becomes a dead letter (default) or is skipped.',
    type: 'The type of the transform.',
  },
  CloudeventsTransformInput: {
    type: 'The type of the transform.',
    mode: '`structured` (default): an envelope in JSON; `binary`: the attributes as `ce-…` headers, the payload as the body.',
    source: 'A URI or a path; may have placeholders.',
    subject: 'May have placeholders; left out if its value is empty.',
    dataschema: 'The schema of the payload; may have placeholders.',
    defaultEventType: 'The `type` for messages that were sent without one.',
    extensions:
      'Further attributes: names of lower-case letters and digits; texts (with placeholders), whole numbers or booleans.',
  },
  JsonataTransformInput: {
    type: 'The type of the transform.',
    expression: 'The expression, 16 KiB at most. The payload is its input.',
    timeoutMs: 'How long one evaluation may take, in milliseconds, 100 by default and 5,000 at most.',
    batch: 'True: the expression always gets an array of payloads, and its result is one request.',
  },
  NoneTransformInput: {
    type: 'The type of the transform.',
  },
  TemplateTransformInput: {
    type: 'The type of the transform.',
    template:
      'A JSON value whose texts have placeholders like `{{ order.id }}`, or the text of such JSON; empty sends the event as it is.',
    missing: 'What happens to a placeholder without a value and without a default; `error` by default.',
    envelope:
      'For batches: a template around the rendered messages, with the variables `$items` and `$count`.',
  },
  XapiTransformInput: {
    platformUrl: 'The address of the platform that the events come from, like `https://learn.example`.',
    actor: 'How learners are named.',
    courses: 'How courses are named; by default by their ids.',
    events: 'Names or patterns of the events to transform; all others are skipped.',
    overrides: 'Templates that override parts of the records.',
    ids: "How records are identified: as Holdfast does (default), or as the platform's own transformers do (`compatible`).",
    onUnknown:
      'What happens to an event without a mapping: it becomes a dead letter (default) or is skipped.',
    onAnonymous:
      'What happens to an event without a learner: it becomes a dead letter (default) or is skipped.',
    onInvalid:
      'What happens to an event that lacks a required field: it becomes a dead letter (default) or is skipped.',
    type: 'The type of the transform.',
  },
  RouteInput: {
    name: 'The name of the route: 1 to 127 characters of a–z, 0–9, ".", "_", ":" and "-".',
    eventType: 'The events to deliver: a type, or a pattern like `order.*` or `**`.',
    filter: 'An SQL/JSON path that must be true for the payload, like `$.amount > 100`; null: every event.',
    transform: 'The transform of the event; null: sent as published.',
    endpoint: 'The name of the endpoint.',
    tenant: 'Only events of this tenant; null: only events without a tenant.',
    criticality: 'The criticality of its deliveries; null: that of the event type.',
    enabled: 'Whether the route is in use.',
  },
  CommonScheduleInput: {
    name: 'The name of the schedule. Setting it again under the same name replaces it.',
    job: 'The job to run: a job from `defineJob`, or its name.',
    payload: 'The input of its runs; null by default. A `RawJson` keeps every digit.',
    options: 'Options of the runs that it creates.',
    overlap:
      'What happens while the last run has not ended: skip this one (`skip`, default), run it afterwards (`queue`), or run both (`allow`).',
    catchUp: 'After a downtime: the latest missed tick (`one`, default), all of them, or none.',
  },
  CronScheduleInput: {
    name: 'The name of the schedule. Setting it again under the same name replaces it.',
    job: 'The job to run: a job from `defineJob`, or its name.',
    payload: 'The input of its runs; null by default. A `RawJson` keeps every digit.',
    options: 'Options of the runs that it creates.',
    overlap:
      'What happens while the last run has not ended: skip this one (`skip`, default), run it afterwards (`queue`), or run both (`allow`).',
    catchUp: 'After a downtime: the latest missed tick (`one`, default), all of them, or none.',
    cron: 'Five fields, or six with seconds in front, like `0 3 * * *`.',
    timezone: 'The time zone of `cron`, like `Europe/Amsterdam`; UTC when left out.',
    everyMs: 'Cannot be combined with `cron`.',
    runAt: 'Cannot be combined with `cron`.',
  },
  IntervalScheduleInput: {
    name: 'The name of the schedule. Setting it again under the same name replaces it.',
    job: 'The job to run: a job from `defineJob`, or its name.',
    payload: 'The input of its runs; null by default. A `RawJson` keeps every digit.',
    options: 'Options of the runs that it creates.',
    overlap:
      'What happens while the last run has not ended: skip this one (`skip`, default), run it afterwards (`queue`), or run both (`allow`).',
    catchUp: 'After a downtime: the latest missed tick (`one`, default), all of them, or none.',
    everyMs: 'The interval, in milliseconds; at least one second.',
    cron: 'Cannot be combined with `everyMs`.',
    timezone: 'Has no effect here.',
    runAt: 'Cannot be combined with `everyMs`.',
  },
  OnceScheduleInput: {
    name: 'The name of the schedule. Setting it again under the same name replaces it.',
    job: 'The job to run: a job from `defineJob`, or its name.',
    payload: 'The input of its runs; null by default. A `RawJson` keeps every digit.',
    options: 'Options of the runs that it creates.',
    overlap:
      'What happens while the last run has not ended: skip this one (`skip`, default), run it afterwards (`queue`), or run both (`allow`).',
    catchUp: 'After a downtime: the latest missed tick (`one`, default), all of them, or none.',
    runAt: 'The time to run: a Date, or ISO 8601 with a zone.',
    cron: 'Cannot be combined with `runAt`.',
    timezone: 'Has no effect here.',
    everyMs: 'Cannot be combined with `runAt`.',
  },
}
