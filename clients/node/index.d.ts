/// <reference types="node" />
/// <reference lib="esnext.disposable" />

/** Where brokers are: `HOST:PORT`, `tls://HOST:PORT`, the path of a Unix socket. */
export type Address = string;

export interface BrokerOptions {
  addresses?: Address | Address[];
  user?: string;
  password?: string;
  /** PEM, or the name of a file that has it. */
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  /** So many ms locks survive a lost connection. */
  grace?: number;
  /** What operators see. */
  label?: string;
  /** So many ms a call may take longer than its `wait`; 1000 by default. */
  patience?: number;
}

export interface WaitOptions {
  /** So many ms; 0: not at all; without it for ever. */
  wait?: number | null;
  /** Ends the wait; the promise rejects with its reason. */
  signal?: AbortSignal;
}

export interface GrantOptions extends WaitOptions {
  /** Calls the function with null if it would have to wait. */
  ifAvailable?: boolean;
  /** It is given back, and lost, after so many ms. */
  hold?: number;
}

export interface LockOptions extends GrantOptions {
  mode?: 'exclusive' | 'shared';
  /** Nobody else has the name for so many ms from the grant. */
  keep?: number;
  /** Nobody else has it for so many ms after an end that is no release. */
  delay?: number;
  /** A word that others read with `Broker.value()` while it is held. */
  value?: string;
  /** A traceparent for the broker's log; by default from OpenTelemetry's span. */
  trace?: string;
}

export interface SemaphoreOptions extends GrantOptions {
  limit: number;
  permits?: number;
}

/** Permits of a semaphore: they have no fence. */
export interface Permits {
  readonly name: string;
  readonly names: string[];
  /** Aborts when it is lost. */
  readonly signal: AbortSignal;
  /** For so many ms nobody else can have it. */
  readonly valid: number;
  /** Throws if it is lost. */
  check(): void;
}

export interface Lock extends Permits {
  readonly mode: 'exclusive' | 'shared';
  /** Rises with each exclusive grant of the (first) name. */
  readonly fence: number;
  readonly fences: number[];
  /** Changes the value that `Broker.value()` returns. */
  setValue(value: string): Promise<void>;
}

export interface LockInfo {
  name: string;
  mode?: 'exclusive' | 'shared';
  clientId?: string;
}

export interface Latch {
  create(count: number, options?: { ttl?: number }): Promise<number>;
  /** Resolves with how much is left. */
  countDown(by?: number): Promise<number>;
  wait(options?: WaitOptions): Promise<void>;
}

export interface Barrier {
  /** Resolves with how many were still to come: 0 to the last. */
  wait(options?: WaitOptions): Promise<number>;
}

/** With `ifAvailable: true` the function may be called with null. */
type Granted<T, L = Lock> = (lock: L) => T | PromiseLike<T>;
type Perhaps<T, L = Lock> = (lock: L | null) => T | PromiseLike<T>;

export class Broker {
  constructor(options?: BrokerOptions);
  constructor(address: Address | Address[], options?: BrokerOptions);
  constructor(...addresses: Address[]);
  request<T>(names: string | string[], fn: Granted<T>): Promise<T>;
  request<T>(names: string | string[],
    options: LockOptions & { ifAvailable: true }, fn: Perhaps<T>): Promise<T>;
  request<T>(names: string | string[], options: LockOptions, fn: Granted<T>): Promise<T>;
  elect<T>(name: string, fn: Granted<T>): Promise<T>;
  elect<T>(name: string, options: LockOptions, fn: Granted<T>): Promise<T>;
  /** The value of the current holder, through any broker. */
  value(name: string): Promise<string | undefined>;
  semaphore<T>(name: string,
    options: SemaphoreOptions & { ifAvailable: true },
    fn: Perhaps<T, Permits>): Promise<T>;
  semaphore<T>(name: string, options: SemaphoreOptions,
    fn: Granted<T, Permits>): Promise<T>;
  latch(name: string): Latch;
  barrier(name: string, parties: number): Barrier;
  query(pattern?: string): Promise<{ held: LockInfo[]; pending: LockInfo[] }>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export class LockError extends Error {
  /** busy, timeout, lost, unavailable, denied, deadlock, ... */
  readonly code: string;
  /** What was asked for. */
  readonly names?: string[];
  /** Who has it (label or address), through which broker, for how many ms, and how
   * many waited before, as far as the broker knows. */
  readonly holder?: string;
  readonly broker?: string;
  readonly age?: number;
  readonly before?: number;
}
