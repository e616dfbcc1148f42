import type { Notice, NoticeTexts } from '../../core/alerts/alert-notice.ts'
import type { Logger } from '../logger.ts'

/** Logs a notification: critical ones as errors, the end of an incident as info. */
export function logNotice(logger: Logger, notice: Notice, texts: NoticeTexts, why: string | null): void {
  const level = notice.kind === 'resolved' ? 'info' : notice.severity === 'critical' ? 'error' : 'warn'
  logger[level]({ alert: texts.payloads.webhook, ...(why !== null && { why }) }, texts.title)
}
