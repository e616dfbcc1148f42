/** A secret: the text to store, or what stands in its place once it is stored, which means "as it is". */
export type SecretInput = string | { readonly isSet: true }

/** How an attempt ended, which decides what follows: docs/transports.md. */
export type AttemptClassName = 'success' | 'retryable' | 'permanent' | 'gone' | 'throttled'

/** Signs each request as Standard Webhooks has it. */
export interface StandardWebhooksSigning {
  /** Which signature requests carry. */
  readonly scheme: 'standard-webhooks'
  /** `whsec_` and 24 to 64 random bytes as base64. Left out, one is made and shown once. */
  readonly secret?: SecretInput | undefined
}

/** Sends requests without a signature. */
export interface NoSigning {
  /** Which signature requests carry. */
  readonly scheme: 'none'
}

/** How receivers can tell that a request comes from you. */
export type SigningInput = StandardWebhooksSigning | NoSigning

/** Sends no credentials. */
export interface NoAuth {
  /** Which credentials requests carry. */
  readonly type: 'none'
}

/** `authorization: Basic …`. */
export interface BasicAuth {
  /** Which credentials requests carry. */
  readonly type: 'basic'
  /** The user name, without a colon. */
  readonly username: string
  /** The password, stored encrypted. */
  readonly password: SecretInput
}

/** `authorization: Bearer …` with a token that doesn't change. */
export interface BearerAuth {
  /** Which credentials requests carry. */
  readonly type: 'bearer'
  /** The token, stored encrypted. */
  readonly token: SecretInput
}

/** A key in a header of its own. */
export interface ApiKeyAuth {
  /** Which credentials requests carry. */
  readonly type: 'apiKey'
  /** The header that carries the key, `x-api-key` by default. */
  readonly header?: string | undefined
  /** The key, stored encrypted. */
  readonly key: SecretInput
}

/** `authorization: Bearer …` with a token by OAuth2 client credentials, renewed before it expires. */
export interface OAuth2Auth {
  /** Which credentials requests carry. */
  readonly type: 'oauth2'
  /** Where tokens are asked for. */
  readonly tokenUrl: string
  /** The client's id. */
  readonly clientId: string
  /** The client's secret, stored encrypted. */
  readonly clientSecret: SecretInput
  /** The scope to ask for. */
  readonly scope?: string | undefined
  /** The audience to ask for. */
  readonly audience?: string | undefined
  /** Where the token endpoint wants the client's credentials: `header` (default, HTTP Basic) or `body`. */
  readonly sendCredentialsIn?: 'header' | 'body' | undefined
}

/** How the receiver is told who calls. */
export type AuthInput = NoAuth | BasicAuth | BearerAuth | ApiKeyAuth | OAuth2Auth

/** A client certificate, or an authority of your own. */
export interface TlsInput {
  /** The client's certificate and those that lead to a root, as PEM. Goes with `key`. */
  readonly cert?: string | undefined
  /** The private key of `cert` as PEM, stored encrypted. */
  readonly key?: SecretInput | undefined
  /** The passphrase of `key`, stored encrypted. */
  readonly passphrase?: SecretInput | undefined
  /** Certificates to trust instead of the well-known ones, as PEM. */
  readonly ca?: string | undefined
}

/** The `config` of an endpoint whose transport is `http`. */
export interface HttpConfigInput {
  /** Where requests go: absolute, `http:` or `https:`, without user name and password. With a query it is stored as a secret. */
  readonly url: SecretInput
  /** The method of each request, `POST` by default; `GET` is sent without a body. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'GET' | undefined
  /** Added to each request; values may have placeholders like `{{ order.id }}`. */
  readonly headers?: Readonly<Record<string, SecretInput>> | undefined
  /** The names of headers whose values are no secrets; all others are stored encrypted and never shown. */
  readonly plainHeaders?: readonly string[] | undefined
  /** One deadline from connect to the last byte of the response, in milliseconds, 10,000 by default. */
  readonly timeoutMs?: number | undefined
  /** How requests are signed: by Standard Webhooks with a secret that is made and shown once, unless said otherwise. */
  readonly signing?: SigningInput | undefined
  /** Credentials that requests carry, none by default. */
  readonly auth?: AuthInput | undefined
  /** A client certificate, or an authority of your own. */
  readonly tls?: TlsInput | undefined
  /** Which attempts keep their request and response: `errors` by default. */
  readonly capture?: 'none' | 'errors' | 'all' | undefined
  /** How much of a response is read, in bytes, 65,536 by default and 1 MiB at most. */
  readonly maxResponseBytes?: number | undefined
  /** How to read a status where the default is wrong, like `{ "409": "success", "4xx": "retryable" }`. */
  readonly classify?: Readonly<Record<string, AttemptClassName>> | undefined
}

/** The `config` of an endpoint whose transport is `function`. */
export interface FunctionConfigInput {
  /** The name that the handler is registered under; the endpoint's own when left out. */
  readonly handler?: string | undefined
  /** A handler that hasn't finished by then has failed, in milliseconds, 10,000 by default. */
  readonly timeoutMs?: number | undefined
  /** How to read a status where the default is wrong; a handler has none, so this changes nothing. */
  readonly classify?: Readonly<Record<string, AttemptClassName>> | undefined
}

/** The `config` of an endpoint whose transport is `smtp`. The mail server itself is a setting of the node. */
export interface SmtpConfigInput {
  /** Who gets the e-mails, 20 addresses at most. */
  readonly to: readonly string[]
  /** Who they come from, `holdfast@localhost` when left out. */
  readonly from?: string | undefined
  /** The deadline of one e-mail, in milliseconds, 30,000 by default. */
  readonly timeoutMs?: number | undefined
  /** How to read a status where the default is wrong; e-mail has none, so this changes nothing. */
  readonly classify?: Readonly<Record<string, AttemptClassName>> | undefined
}

/** Properties that every message of an endpoint carries. What is left out is set from the message. */
export interface AmqpPropertiesInput {
  /** The type of the body, `application/json` or what the transform says when left out. */
  readonly contentType?: string | undefined
  /** How the body is encoded, like `gzip`; Holdfast encodes nothing. */
  readonly contentEncoding?: string | undefined
  /** The priority in queues that have priorities, 0 to 255. */
  readonly priority?: number | undefined
  /** How long the broker keeps the message in a queue, in milliseconds. */
  readonly expirationMs?: number | undefined
  /** The queue that answers go to. */
  readonly replyTo?: string | undefined
  /** The type of the message; the event's type when left out. */
  readonly type?: string | undefined
  /** The application that sends, `holdfast` when left out. */
  readonly appId?: string | undefined
  /** The broker's user that sends; the broker refuses another than the connection's. */
  readonly userId?: string | undefined
}

/** The `config` of an endpoint whose transport is `amqp`: an exchange of RabbitMQ, or of another broker that speaks AMQP 0-9-1. */
export interface AmqpConfigInput {
  /** The broker and the virtual host, `amqps://host:5671/vhost` or `amqp://…`. With a password in it, it is stored as a secret. */
  readonly url: SecretInput
  /** The broker's user, where the URL has none; `guest` when both have none. */
  readonly username?: string | undefined
  /** The password of `username`, stored encrypted. */
  readonly password?: SecretInput | undefined
  /** The exchange to publish to, which must exist; the empty name is the default exchange, which routes to the queue named by the key. */
  readonly exchange: string
  /** The routing key, with placeholders like `{{ $eventType }}`; the event's type when left out. */
  readonly routingKey?: string | undefined
  /** Headers of each message, with placeholders. They are no secrets. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Properties of each message. */
  readonly properties?: AmqpPropertiesInput | undefined
  /** Whether durable queues keep the message over a restart of the broker, true by default. */
  readonly persistent?: boolean | undefined
  /** Whether a message that routes to no queue fails, true by default; false: it counts as delivered and is lost. */
  readonly mandatory?: boolean | undefined
  /** What the attributes of CloudEvents in binary mode begin with in the headers: `cloudEvents:` (default) or `cloudEvents_`. */
  readonly cloudEventsPrefix?: 'cloudEvents:' | 'cloudEvents_' | undefined
  /** A client certificate, or an authority of your own; needs `amqps:`. */
  readonly tls?: TlsInput | undefined
  /** One deadline from connect to the broker's confirm, in milliseconds, 10,000 by default. */
  readonly timeoutMs?: number | undefined
  /** How to read a status where the default is wrong; a broker has none, so this changes nothing. */
  readonly classify?: Readonly<Record<string, AttemptClassName>> | undefined
}

/** The `config` of an `http` endpoint as it is shown: `{ isSet: true }` in the place of a secret. Sent back, it means what is stored. */
export interface HttpConfig extends HttpConfigInput {
  /** One deadline from connect to the last byte of the response, in milliseconds. */
  readonly timeoutMs: number
}

/** The `config` of a `function` endpoint as it is shown. */
export interface FunctionConfig extends FunctionConfigInput {
  /** A handler that hasn't finished by then has failed, in milliseconds. */
  readonly timeoutMs: number
}

/** The `config` of an `smtp` endpoint as it is shown. */
export interface SmtpConfig extends SmtpConfigInput {
  /** The deadline of one e-mail, in milliseconds. */
  readonly timeoutMs: number
}

/** The `config` of an `amqp` endpoint as it is shown. */
export interface AmqpConfig extends AmqpConfigInput {
  /** One deadline from connect to the broker's confirm, in milliseconds. */
  readonly timeoutMs: number
}
