import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium, type Page } from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Where a browser is; null: there is none, and tests that need it are skipped. */
export const browserPath: string | null =
  [process.env['HOLDFAST_TEST_BROWSER'] ?? '', ...places].find((path) => path !== '' && existsSync(path)) ??
  null

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface OpenBrowser {
  readonly context: BrowserContext
  /** What pages asked of any other host than their own. */
  readonly foreignRequests: string[]
  close(): Promise<void>
}

export interface BrowserOptions {
  readonly baseUrl: string
  readonly isDark?: boolean
  readonly isPhone?: boolean
}

/** Chromium with an empty profile of its own. */
export async function openBrowser({
  baseUrl,
  isDark = false,
  isPhone = false,
}: BrowserOptions): Promise<OpenBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'holdfast-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: browserPath ?? '',
    headless: true,
    args: flags,
    baseURL: baseUrl,
    colorScheme: isDark ? 'dark' : 'light',
    viewport: isPhone ? { width: 390, height: 844 } : { width: 1280, height: 900 },
    timezoneId: 'Europe/Berlin',
    locale: 'en-GB',
  })
  const foreignRequests: string[] = []
  const { host } = new URL(baseUrl)
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (!/^(data|blob):$/.test(url.protocol) && url.host !== host) foreignRequests.push(request.url())
  })
  return {
    context,
    foreignRequests,
    close: async () => {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

/** A page whose complaints are kept: a script that fails, or what the content security policy stopped. */
export async function openPage(context: BrowserContext): Promise<{ page: Page; complaints: string[] }> {
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) {
      complaints.push(message.text())
    }
  })
  return { page, complaints }
}
