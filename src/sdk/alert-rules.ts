import { type AlertRuleInput, parseAlertRule } from '../core/alerts/alert-rule-input.ts'
import { HoldfastError } from '../core/errors.ts'
import { listProblems, type Problem } from '../core/problem.ts'
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

/** Alert rules: which conditions raise an alert. */
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

  /** Creates the rule, or replaces it completely. */
  async put(input: AlertRuleInput, reason?: string): Promise<AlertRule> {
    const parsed = parseAlertRule(input)
    if (!parsed.ok) throw invalidAlert('rule', parsed.problems)
    return this.#run((database) => writeAlertRule(database, parsed.value, this.#options.actor), reason)
  }

  /** Changes the given fields and keeps the others. */
  async update(name: string, changes: Partial<Omit<AlertRuleInput, 'name'>>): Promise<AlertRule> {
    const { silencedUntil: _, lastNoticeAt: __, updatedAt: ___, ...current } = await this.get(name)
    return this.put({ ...current, ...changes, name } as AlertRuleInput)
  }

  /** Deletes the rule; its incidents end without a notification. */
  async delete(name: string, reason?: string): Promise<void> {
    const isDeleted = await this.#run(
      (database) => deleteAlertRule(database, name, this.#options.actor),
      reason,
    )
    if (!isDeleted) throw notFound(name)
  }

  /** Silences an alert rule until the given time; null ends the silence. */
  async silence(name: string, until: Date | null, reason?: string): Promise<void> {
    const isKnown = await this.#run(
      (database) => silenceAlertRule(database, name, until, this.#options.actor),
      reason,
    )
    if (!isKnown) throw notFound(name)
  }

  #run<Result>(work: (database: Database) => Promise<Result>, reason?: string): Promise<Result> {
    return onDatabase(this.#options.database(), work, reason)
  }
}

export function invalidAlert(what: 'rule' | 'channel', problems: readonly Problem[]): HoldfastError {
  const listed = listProblems(problems)
  return new HoldfastError('invalid_alert', `The alert ${what} is invalid. ${listed}`, { problems })
}

function notFound(name: string): HoldfastError {
  return new HoldfastError(
    'alert_not_found',
    `There is no alert rule named "${name}". List them with: holdfast alert-rules list`,
    { rule: name },
  )
}
