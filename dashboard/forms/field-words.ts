import type { Field } from './field.ts'

/** What a field is called beside its control, and in which unit it is; others are called by their own name. */
const words: Readonly<Record<string, readonly [label: string, unit?: string]>> = {
  name: ['Name'],
  'config.url': ['URL'],
  'config.secretPath': ['Secret path'],
  'config.method': ['Method'],
  'config.timeoutMs': ['Timeout', 'ms'],
  'config.headers': ['Headers'],
  'config.auth.type': ['Authentication'],
  'config.auth.tokenUrl': ['Token URL'],
  'config.auth.clientId': ['Client id'],
  'config.auth.sendCredentialsIn': ['Credentials in'],
  'config.signing.scheme': ['Signature'],
  'config.signing.secret': ['Signing secret'],
  'config.tls.cert': ['Client certificate'],
  'config.tls.key': ['Private key'],
  'config.tls.ca': ['Trusted authorities'],
  'config.capture': ['Keep request and answer of'],
  'config.maxResponseBytes': ['Read of an answer', 'bytes'],
  'config.classify': ['How statuses are read'],
  'config.to': ['To'],
  eventTypes: ['Event types'],
  contact: ['Contact for incidents'],
  'retry.strategy': ['Delays'],
  'retry.baseDelayMs': ['First delay', 'ms'],
  'retry.maxDelayMs': ['Longest delay', 'ms'],
  'retry.incrementMs': ['Growth', 'ms'],
  'retry.maxRetries': ['Retries', 'after the first try'],
  'retry.giveUpAfterMs': ['Gives up after', 'ms'],
  'retry.delaysMs': ['Schedule', 'ms'],
  'request.maxRetries': ['Retries', 'after the first try'],
  'request.baseDelayMs': ['First delay', 'ms'],
  'request.maxDelayMs': ['Longest delay', 'ms'],
  'request.deadlineMs': ['Deadline', 'ms'],
  'request.retryOn': ['Retried statuses'],
  'circuit.threshold': ['Circuit opens after', 'failures in a row'],
  'circuit.cooldownMs': ['Probes after', 'ms'],
  'limits.concurrency': ['Requests at once'],
  'limits.ratePerSecond': ['Rate limit', 'per second'],
  'limits.maxPending': ['May wait', 'deliveries'],
  'limits.onFull': ['When that is full'],
  'autoDisable.onGone': ['Disable when it answers 410'],
  'autoDisable.threshold': ['Disable after', 'failures in a row'],
  'autoDisable.windowMs': ['Within', 'ms'],
  'autoDisable.reenableAfterMs': ['Enable again after', 'ms'],
  onDead: ['After a dead letter, its ordering key'],
  batch: ['Several messages per request'],
  'batch.maxMessages': ['Messages at most'],
  'batch.maxBytes': ['Bytes at most', 'bytes'],
  'batch.maxWaitMs': ['Waits for others', 'ms'],
  holdOn: ['Statuses that pause it'],
}

const choices: Readonly<Record<string, string>> = {
  dead_letter: 'Dead letter at once',
  reject: 'Publishing is refused',
  continue: 'goes on',
  block: 'waits',
  apiKey: 'API key',
  oauth2: 'OAuth 2',
  'standard-webhooks': 'Standard Webhooks',
}

export function labelOf({ path, label }: Pick<Field, 'path' | 'label'>): string {
  return label ?? words[path]?.[0] ?? sentence(path.split('.').at(-1) ?? path)
}

export function unitOf({ path, unit }: Pick<Field, 'path' | 'unit'>): string {
  return unit ?? words[path]?.[1] ?? ''
}

export function choiceWords(choice: string): string {
  return choices[choice] ?? (/^[a-z]/.test(choice) ? sentence(choice) : choice)
}

/** `sendCredentialsIn` as `Send credentials in`. */
function sentence(name: string): string {
  const text = name.replaceAll(
    /([a-z])([A-Z])/g,
    (_, end: string, start: string) => `${end} ${start.toLowerCase()}`,
  )
  return text.charAt(0).toUpperCase() + text.slice(1).replaceAll(/[_-]/g, ' ')
}
