import type { Page } from 'playwright-core'
import type { Role } from '../../../src/core/access/roles.ts'
import { loopbackNetworks } from '../../../src/network/network-rules.ts'
import { ApiRig, type ApiRigOptions } from '../api/api-rig.ts'
import { type BrowserOptions, type OpenBrowser, openBrowser, openPage } from './browser.ts'

/** A node with its API and dashboard on a database of its own, and a browser to look at it. */
export class DashboardRig {
  readonly api: ApiRig
  readonly #browsers: OpenBrowser[] = []
  readonly complaints: string[][] = []

  private constructor(api: ApiRig) {
    this.api = api
  }

  static async create(options: ApiRigOptions = {}): Promise<DashboardRig> {
    const api = await ApiRig.create({ allowNetworks: loopbackNetworks, ...options })
    await api.holdfast.start()
    return new DashboardRig(api)
  }

  get url(): string {
    return this.api.server.url
  }

  async browser(options: Partial<BrowserOptions> = {}): Promise<OpenBrowser> {
    const browser = await openBrowser({ baseUrl: this.url, ...options })
    this.#browsers.push(browser)
    return browser
  }

  /** A page of somebody who has signed in with the form. */
  async signedIn(role: Role, options: Partial<BrowserOptions> = {}): Promise<Page> {
    const { context } = await this.browser(options)
    const { page, complaints } = await openPage(context)
    this.complaints.push(complaints)
    const key = await this.api.keyOf(role)
    await page.goto('/')
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'))
    return page
  }

  /** What pages asked of any other host. */
  get foreignRequests(): readonly string[] {
    return this.#browsers.flatMap(({ foreignRequests }) => foreignRequests)
  }

  async stop(): Promise<void> {
    for (const browser of this.#browsers) await browser.close()
    await this.api.stop()
  }
}
