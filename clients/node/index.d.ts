/// <reference types="node" />
/// <reference lib="esnext.disposable" />

/** Where brokers are: `HOST:PORT`, `tls://HOST:PORT`, the path of a Unix socket. */
export type Address = string;

export interface BrokerOptions {
  addresses?: Address | Address[];
  user?: string;
  password?: string;
  /** PEM, or the name of a PEM file. */
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  /** How long locks survive a lost connection, in ms. */
  grace?: number;
  /** A name for operators. */
  label?: string;
  /** How long a call may take beyond its `wait`, in ms; 1000 by default. */
  patience?: number;
}

export interface WaitOptions {
  /** In ms; 0: not at all; without it there is no limit. */
  wait?: number | null;
  /** Ends the wait; the promise rejects with its reason. */
  signal?: AbortSignal;
}

export interface GrantOptions extends WaitOptions {
  /** Calls the function with null if it would have to wait. */
  ifAvailable?: boolean;
  /** Maximum hold time in ms; then the lock is lost. */
  hold?: number;
}

export interface LockOptions extends GrantOptions {
  mode?: 'exclusive' | 'shared';
  /** No other client gets the name before this time after the grant, in ms. */
  keep?: number;
  /** No other client gets it before this time after an end without a release, in ms. */
  delay?: number;
  /** A word that others read with `Broker.value()` while it is held. */
  value?: string;
  /** A traceparent for the broker's log; by default from OpenTelemetry's span. */
  trace?: string;
}

export interface SemaphoreOptions extends GrantOptions {
  limit: number;
  permits?: number;
  /** With one permit and its slot, 0 to `limit` - 1, which no other client holds. */
  slot?: boolean;
}

/** Permits of a semaphore: they have no fence. */
export interface Permits {
  readonly name: string;
  readonly names: string[];
  /** Aborts when it is lost. */
  readonly signal: AbortSignal;
  /** Guaranteed time left, in ms: no other client can get it. */
  readonly valid: number;
  /** With `slot: true`. */
  readonly slot?: number;
  /** Throws if it is lost. */
  check(): void;
}

export interface Slot extends Permits {
  readonly slot: number;
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
  /** Resolves with the count that is left. */
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
    options: SemaphoreOptions & { slot: true; ifAvailable: true },
    fn: Perhaps<T, Slot>): Promise<T>;
  semaphore<T>(name: string, options: SemaphoreOptions & { slot: true },
    fn: Granted<T, Slot>): Promise<T>;
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
  /** The names of the request. */
  readonly names?: string[];
  /** The holder (label or address), its broker, the ms since the grant, and the number
   * of requests ahead, as far as the broker knows. */
  readonly holder?: string;
  readonly broker?: string;
  readonly age?: number;
  readonly before?: number;
}
