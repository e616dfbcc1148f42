import type { PresetName } from './presets.ts'
import type {
  AmqpConfig,
  AmqpConfigInput,
  FunctionConfig,
  FunctionConfigInput,
  HttpConfig,
  HttpConfigInput,
  SmtpConfig,
  SmtpConfigInput,
} from './transport-configs.ts'

/** When a delivery that failed is tried again. */
export interface RetryInput {
  /** How delays grow: `exponential` (default), `linear`, `fixed`, or a `schedule` of your own. */
  readonly strategy?: 'exponential' | 'linear' | 'fixed' | 'schedule' | undefined
  /** The delay before the first retry, in milliseconds. */
  readonly baseDelayMs?: number | undefined
  /** The longest delay, in milliseconds. */
  readonly maxDelayMs?: number | undefined
  /** How much longer each delay of `linear` is, in milliseconds. */
  readonly incrementMs?: number | undefined
  /** Tries after the first. */
  readonly maxRetries?: number | undefined
  /** How delays are spread: `full` (default), `equal` or `none`. */
  readonly jitter?: 'none' | 'full' | 'equal' | undefined
  /** What is still owed then is dead, in milliseconds from its acceptance. A pause stops that clock. */
  readonly giveUpAfterMs?: number | undefined
  /** The delays of `schedule`, in milliseconds. */
  readonly delaysMs?: readonly number[] | undefined
}

/** How `request()` tries again while its caller waits. */
export interface RequestPolicyInput {
  /** Tries after the first. */
  readonly maxRetries?: number | undefined
  /** The delay before the first retry, in milliseconds. */
  readonly baseDelayMs?: number | undefined
  /** The longest delay, in milliseconds. */
  readonly maxDelayMs?: number | undefined
  /** How delays are spread: `full` (default), `equal`, or `none` for exact ones. */
  readonly jitter?: 'none' | 'full' | 'equal' | undefined
  /** For all tries together, in milliseconds. */
  readonly deadlineMs?: number | undefined
  /** HTTP statuses to try again on, besides failures of the network. */
  readonly retryOn?: readonly number[] | undefined
}

/** When the circuit opens, and how long it stays so. */
export interface CircuitInput {
  /** Health failures in a row that open it. */
  readonly threshold?: number | undefined
  /** How long it stays open before one delivery probes, in milliseconds. */
  readonly cooldownMs?: number | undefined
}

/** How much an endpoint takes. */
export interface LimitsInput {
  /** Attempts at once, over all nodes. */
  readonly concurrency?: number | undefined
  /** Attempts a second, over all nodes; null: as many as come. */
  readonly ratePerSecond?: number | null | undefined
  /** How many deliveries may wait. */
  readonly maxPending?: number | undefined
  /** What becomes of one more: a dead letter at once (default), or the publish is refused. */
  readonly onFull?: 'dead_letter' | 'reject' | undefined
}

/** When an endpoint disables itself. */
export interface AutoDisableInput {
  /** When the receiver answers 410. */
  readonly onGone?: boolean | undefined
  /** After so many failures in a row inside the window; null: never. */
  readonly threshold?: number | null | undefined
  /** The window, in milliseconds. */
  readonly windowMs?: number | undefined
  /** Enables itself again after so many milliseconds; null: a person does. */
  readonly reenableAfterMs?: number | null | undefined
}

/** Several messages per request. */
export interface BatchInput {
  /** How many at most. */
  readonly maxMessages: number
  /** How many bytes of rendered messages at most; null: as many as come. */
  readonly maxBytes?: number | null | undefined
  /** How long the first of them may wait for the others, in milliseconds. */
  readonly maxWaitMs?: number | undefined
}

/** What every endpoint has, whatever carries its messages. */
export interface CommonEndpointInput {
  /** How it is called everywhere: 1 to 63 characters of a–z, 0–9, ".", "_" and "-". */
  readonly name: string
  /** Whose it is. An event with a tenant reaches that tenant's endpoints only. */
  readonly tenant?: string | null | undefined
  /** To switch and find several together, 20 at most. */
  readonly tags?: readonly string[] | undefined
  /** Contact for incidents. */
  readonly contact?: string | null | undefined
  /** Retry, circuit and timeout tuned together; `standard` by default. */
  readonly preset?: PresetName | undefined
  /** Which events it wants, like `["order.*"]`: makes its route. */
  readonly eventTypes?: readonly string[] | undefined
  /** When a delivery that failed is tried again. */
  readonly retry?: RetryInput | undefined
  /** How `request()` tries again while its caller waits. */
  readonly request?: RequestPolicyInput | undefined
  /** When the circuit opens, and how long it stays so. */
  readonly circuit?: CircuitInput | undefined
  /** How much it takes. */
  readonly limits?: LimitsInput | undefined
  /** When it disables itself. */
  readonly autoDisable?: AutoDisableInput | undefined
  /** What a dead letter does to its ordering key: frees it (`continue`, default), or holds it until the letter is settled (`block`). */
  readonly onDead?: 'continue' | 'block' | undefined
  /** Several messages per request; null: one each. */
  readonly batch?: BatchInput | null | undefined
  /** HTTP statuses that pause it as `rejecting` at the first such answer, like `[401, 403]`. */
  readonly holdOn?: readonly number[] | undefined
}

/** An endpoint that is reached over HTTP. */
export interface HttpEndpointInput extends CommonEndpointInput {
  /** What carries its messages; `http` when left out. */
  readonly transport?: 'http' | undefined
  /** Where and how requests are sent. */
  readonly config: HttpConfigInput
}

/** An endpoint that is a handler in a process of yours. */
export interface FunctionEndpointInput extends CommonEndpointInput {
  /** What carries its messages. */
  readonly transport: 'function'
  /** Which handler. */
  readonly config?: FunctionConfigInput | undefined
}

/** An endpoint that is an e-mail address. */
export interface SmtpEndpointInput extends CommonEndpointInput {
  /** What carries its messages. */
  readonly transport: 'smtp'
  /** Whom to write to. */
  readonly config: SmtpConfigInput
}

/** An endpoint that is an exchange of RabbitMQ. */
export interface AmqpEndpointInput extends CommonEndpointInput {
  /** What carries its messages. */
  readonly transport: 'amqp'
  /** Which exchange, and how messages are published to it. */
  readonly config: AmqpConfigInput
}

/** An endpoint as a person writes it; its `transport` decides what its `config` is. */
export type EndpointInput = HttpEndpointInput | FunctionEndpointInput | SmtpEndpointInput | AmqpEndpointInput

/** What is left out, or undefined, stays as it is. Objects such as `retry` and `config` are given in part. */
export interface EndpointChanges extends Partial<Omit<CommonEndpointInput, 'name'>> {
  /** What carries its messages. */
  readonly transport?: 'http' | 'function' | 'smtp' | 'amqp' | undefined
  /** What changes of its transport's settings. */
  readonly config?:
    | Partial<HttpConfigInput>
    | Partial<FunctionConfigInput>
    | Partial<SmtpConfigInput>
    | Partial<AmqpConfigInput>
    | undefined
}

/** What carries the messages of an endpoint that is shown: its `transport` says what its `config` is. */
export type ShownTransport =
  | { readonly transport: 'http'; readonly config: HttpConfig }
  | { readonly transport: 'function'; readonly config: FunctionConfig }
  | { readonly transport: 'smtp'; readonly config: SmtpConfig }
  | { readonly transport: 'amqp'; readonly config: AmqpConfig }

/** An endpoint that is shown, whatever else is said of it. */
export type WithTransport<Shown> = Omit<Shown, 'transport' | 'config'> & ShownTransport
