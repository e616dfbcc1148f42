import type { Notice, NoticeTexts } from '../../core/alerts/alert-notice.ts'
import type { Logger } from '../logger.ts'

/** Tells a notice in the log: critical ones as errors, the end of one as news. */
export function logNotice(logger: Logger, notice: Notice, texts: NoticeTexts, why: string | null): void {
  const level = notice.kind === 'resolved' ? 'info' : notice.severity === 'critical' ? 'error' : 'warn'
  logger[level]({ alert: texts.payloads.webhook, ...(why !== null && { why }) }, texts.title)
}
