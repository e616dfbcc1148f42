import { type AlertRuleInput, parseAlertRule } from '../core/alerts/alert-rule-input.ts'
import { HoldfastError } from '../core/errors.ts'
import type { Problem } from '../core/problem.ts'
import {
  type AlertRuleRecord,
  deleteAlertRule,
  listAlertRules,
  silenceAlertRule,
  writeAlertRule,
} from '../storage/alert-rules.ts'
import type { Database } from '../storage/database.ts'
import { onDatabase } from './page.ts'

export type { AlertRuleInput } from '../core/alerts/alert-rule-input.ts'

export type AlertRule = AlertRuleRecord

export interface AlertRulesOptions {
  readonly database: () => Database
  readonly actor: string
}

/** What is worth waking somebody for. */
export class AlertRules {
  readonly #options: AlertRulesOptions

  constructor(options: AlertRulesOptions) {
    this.#options = options
  }

  async list(): Promise<AlertRule[]> {
    return onDatabase(this.#options.database(), listAlertRules)
  }

  async get(name: string): Promise<AlertRule> {
    const found = (await this.list()).find((rule) => rule.name === name)
    if (found === undefined) throw notFound(name)
    return found
  }

  /** Creates the rule, or replaces it whole. */
  async put(input: AlertRuleInput): Promise<AlertRule> {
    const parsed = parseAlertRule(input)
    if (!parsed.ok) throw invalidAlert('rule', parsed.problems)
    return onDatabase(this.#options.database(), (database) =>
      writeAlertRule(database, parsed.value, this.#options.actor),
    )
  }

  /** Changes the given fields and keeps the others. */
  async update(name: string, changes: Partial<Omit<AlertRuleInput, 'name'>>): Promise<AlertRule> {
    const { silencedUntil: _, lastNoticeAt: __, updatedAt: ___, ...current } = await this.get(name)
    return this.put({ ...current, ...changes, name } as AlertRuleInput)
  }

  /** What it had found ends without a word. */
  async delete(name: string): Promise<void> {
    const isDeleted = await onDatabase(this.#options.database(), (database) =>
      deleteAlertRule(database, name, this.#options.actor),
    )
    if (!isDeleted) throw notFound(name)
  }

  /** No notices of this rule until then; null ends the silence. */
  async silence(name: string, until: Date | null): Promise<void> {
    const isKnown = await onDatabase(this.#options.database(), (database) =>
      silenceAlertRule(database, name, until, this.#options.actor),
    )
    if (!isKnown) throw notFound(name)
  }
}

export function invalidAlert(what: 'rule' | 'channel', problems: readonly Problem[]): HoldfastError {
  const listed = problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
  return new HoldfastError('invalid_alert', `The alert ${what} is invalid. ${listed}`, { problems })
}

function notFound(name: string): HoldfastError {
  return new HoldfastError('alert_not_found', `There is no alert rule named "${name}".`, { rule: name })
}
