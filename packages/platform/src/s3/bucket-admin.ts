// Buckets as the platform needs them: given to an app, kept as they shall be, and taken away with everything in them. It
// knows nothing of Kubernetes.

import { systemClock, type Clock } from "@keelson/base";

import { claim } from "../ownership/claim.ts";
import type { Ledger } from "../ownership/ledger.ts";
import { isOwnedBy, type Owner } from "../ownership/owner.ts";
import { Settling } from "../ownership/settling.ts";
import type { Owned } from "../kinds/status.ts";
import { StepError } from "../steps/step-error.ts";
import { configureBucket, type BucketSettings } from "./bucket-configuration.ts";
import { emptyBucket, isEmptyBucket } from "./emptying.ts";
import { markedTags, parseTags, type Tag } from "./owner-tags.ts";
import { S3Connection, type S3ConnectionOptions } from "./s3-connection.ts";
import { isAnswer, lacking, whenAnswered } from "./s3-errors.ts";

export interface BucketAdminOptions extends Omit<S3ConnectionOptions, "timeoutMs" | "clock"> {
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  /** How long a bucket may still come to be after a call of which nobody heard the answer. */
  readonly settleMs?: number;
  /** How many pages of what is in a bucket one call of `remove` deletes. */
  readonly pagesMax?: number;
}

export interface WantedBucket extends BucketSettings {
  readonly owner: Owner;
  readonly ledger: Ledger;
  /** Whether what an Application of the same name left behind may be taken over. */
  readonly adopts: boolean;
}

export interface LeavingBucket {
  readonly bucket: string;
  readonly owner: Owner;
  readonly ledger: Ledger;
}

/** What is there under a name: a bucket of our account with its tags, one of somebody else's, or none. */
type Found =
  | { readonly is: "missing" }
  | { readonly is: "foreign"; readonly message: string }
  | { readonly is: "there"; readonly tags: readonly Tag[] };

/**
 * Every failure is a `StepError`, but those of a bug, and none has a key in it. Calls may be repeated: what is there
 * already is not made again, and where nothing differs nothing is written.
 */
export class BucketAdmin implements Disposable {
  readonly #s3: S3Connection;
  readonly #region: string;
  readonly #pagesMax: number;
  readonly #settling: Settling;
  /** The last who asked for each bucket. Two apps can derive one name, and some stores let both create it. */
  readonly #last = new Map<string, Promise<void>>();
  /** How much of each bucket is gone, for its progress. A restart counts anew. */
  readonly #removed = new Map<string, number>();

  constructor(options: BucketAdminOptions) {
    const { timeoutMs = 10_000, clock = systemClock, pagesMax = 5, settleMs = 10_000 } = options;
    const { region, endpoint, keys, onCall } = options;
    this.#s3 = new S3Connection({ region, endpoint, keys, onCall, timeoutMs, clock });
    this.#region = region;
    this.#pagesMax = pagesMax;
    this.#settling = new Settling(clock, settleMs);
  }

  /**
   * Gives an app a bucket, set as it shall be. Resolves with the names of the calls that were needed for it.
   *
   * Throws a Conflict, having written nothing, where it is somebody else's.
   */
  async ensure(wanted: WantedBucket, signal: AbortSignal): Promise<readonly string[]> {
    return await this.#alone(wanted.bucket, async () => {
      this.#settling.end(`bucket ${wanted.bucket}`);
      const owning = await this.#own(wanted, signal);
      const store = { s3: this.#s3, region: this.#region };
      return [...owning, ...(await configureBucket(store, wanted, signal))];
    });
  }

  /**
   * Empties and removes a bucket that the ledger names, if it is `owner`'s; else it is only forgotten. Resolves with how
   * far it got, where more is in it than one call deletes: then it wants to be called again.
   */
  async remove(leaving: LeavingBucket, signal: AbortSignal): Promise<string | undefined> {
    return await this.#alone(leaving.bucket, () => this.#remove(leaving, signal));
  }

  /** Keeps a bucket that the ledger names for a successor that adopts it. */
  async retain(leaving: LeavingBucket, signal: AbortSignal): Promise<void> {
    const { bucket, owner, ledger } = leaving;
    await this.#alone(bucket, async () => {
      const tags = await this.#findOwned(leaving, signal);
      if (tags === undefined) return;
      if (parseTags(tags)?.isRetained !== true) {
        await this.#tag(bucket, markedTags(tags, { owner, isRetained: true }), signal);
      }
      await record(ledger, bucket, "Retained", signal);
    });
  }

  [Symbol.dispose](): void {
    this.#s3[Symbol.dispose]();
  }

  async #own(
    { bucket, owner, ledger, adopts }: WantedBucket,
    signal: AbortSignal,
  ): Promise<string[]> {
    const state = ledger.stateOf("Bucket", bucket);
    const found = await this.#find(bucket, state, signal);
    if (found.is === "foreign") throw new StepError("Conflict", found.message);
    const tags = found.is === "there" ? found.tags : [];
    const mark = parseTags(tags);
    if (found.is === "there" && !(await this.#isUnfinished(bucket, { mark, state }, signal))) {
      claim({ what: `bucket ${bucket}`, mark }, owner, { adopts });
    }
    const wanted = markedTags(tags, { owner, isRetained: false });
    const changes: string[] = [];
    if (mark === undefined || !isOwnedBy(mark.owner, owner) || mark.isRetained) {
      // Before it is made: a crash from here on leaves nothing that nobody knows of.
      await record(ledger, bucket, "Creating", signal);
      if (found.is === "missing") {
        await this.#create({ bucket, ledger, state }, signal);
        changes.push("createBucket");
      }
      await this.#tag(bucket, wanted, signal);
      changes.push("putBucketTagging");
    }
    await record(ledger, bucket, "Ready", signal);
    return changes;
  }

  async #create(
    {
      bucket,
      ledger,
      state,
    }: {
      readonly bucket: string;
      readonly ledger: Ledger;
      readonly state: Owned["state"] | undefined;
    },
    signal: AbortSignal,
  ): Promise<void> {
    const region = this.#region as "eu-west-1"; // Whatever the SDK has heard of by now.
    const isUsual = this.#region === "us-east-1"; // It may not be named there.
    const where = isUsual ? {} : { CreateBucketConfiguration: { LocationConstraint: region } };
    try {
      await this.#s3.call(
        { name: "createBucket", bucket },
        (client, options) => client.createBucket({ Bucket: bucket, ...where }, options),
        signal,
      );
    } catch (error) {
      const isOurAccounts = isAnswer(error, ["BucketAlreadyOwnedByYou"]);
      if (isOurAccounts && state === "Creating") {
        // An earlier call of ours, which was not answered, has come through at last.
        throw new StepError("Unreachable", `bucket ${bucket} is being made at this moment`);
      }
      if (!isOurAccounts && !isAnswer(error, ["BucketAlreadyExists"])) throw error;
      // Somebody was faster. With the entry we would take it for our own, were it empty.
      await ledger.forget("Bucket", bucket, signal);
      throw new StepError("Conflict", `bucket ${bucket} was made by somebody else at this moment`);
    }
  }

  async #remove(leaving: LeavingBucket, signal: AbortSignal): Promise<string | undefined> {
    const { bucket, ledger } = leaving;
    const tags = await this.#findOwned(leaving, signal);
    if (tags === undefined) return undefined;
    // Of one that we did not come to mark, only `Creating` says that it is ours: until it is gone.
    if (parseTags(tags) !== undefined) await record(ledger, bucket, "Deleting", signal);
    const pagesMax = this.#pagesMax;
    const { removed, isEmpty } = await emptyBucket(this.#s3, { bucket, pagesMax }, signal);
    const sum = (this.#removed.get(bucket) ?? 0) + removed;
    if (!isEmpty) {
      this.#removed.set(bucket, sum);
      return `bucket ${bucket} is being emptied: ${sum} objects, versions and uploads are gone, more are left`;
    }
    await this.#s3
      .call(
        { name: "deleteBucket", bucket },
        (client, options) => client.deleteBucket({ Bucket: bucket }, options),
        signal,
      )
      .catch(whenAnswered(["404", "NoSuchBucket"], undefined));
    this.#removed.delete(bucket);
    await ledger.forget("Bucket", bucket, signal);
    return undefined;
  }

  /** The tags of a bucket that is to leave; undefined, and forgotten, where it is gone or not the owner's. */
  async #findOwned(
    { bucket, owner, ledger }: LeavingBucket,
    signal: AbortSignal,
  ): Promise<readonly Tag[] | undefined> {
    const state = ledger.stateOf("Bucket", bucket);
    const found = await this.#find(bucket, state, signal);
    if (found.is === "missing" && state === "Creating") this.#settling.miss(`bucket ${bucket}`);
    this.#settling.end(`bucket ${bucket}`);
    if (found.is === "there") {
      const mark = parseTags(found.tags);
      if (isOwnedBy(mark?.owner, owner)) return found.tags;
      if (await this.#isUnfinished(bucket, { mark, state }, signal)) return found.tags;
    }
    await ledger.forget("Bucket", bucket, signal);
    return undefined;
  }

  /** Whether we made it and did not come to mark it: only our own record can tell, and only while nothing is in it. */
  async #isUnfinished(
    bucket: string,
    {
      mark,
      state,
    }: { readonly mark: object | undefined; readonly state: Owned["state"] | undefined },
    signal: AbortSignal,
  ): Promise<boolean> {
    if (mark !== undefined || state !== "Creating") return false;
    return await isEmptyBucket(this.#s3, bucket, signal);
  }

  async #find(
    bucket: string,
    state: Owned["state"] | undefined,
    signal: AbortSignal,
  ): Promise<Found> {
    try {
      await this.#s3.call(
        { name: "headBucket", bucket },
        (client, options) => client.headBucket({ Bucket: bucket }, options),
        signal,
      );
    } catch (error) {
      if (isAnswer(error, ["404"])) return { is: "missing" };
      if (isAnswer(error, ["301"])) {
        // One that we came to mark is still ours: the region we are told is what has changed.
        const isNoted = state !== undefined && state !== "Creating";
        if (isNoted && (await this.#isOurAccounts(bucket, state, signal))) {
          const message = `bucket ${bucket} is in another region than ${this.#region}: set AWS_REGION to that`;
          throw new StepError("Refused", message);
        }
        return { is: "foreign", message: `bucket ${bucket} exists in another region` };
      }
      if (!isAnswer(error, ["403"])) throw error;
      // What we own and may not touch is a refusal; what we do not own is none of our business.
      if (await this.#isOurAccounts(bucket, state, signal)) throw error;
      return { is: "foreign", message: `bucket ${bucket} is another account's, or closed to ours` };
    }
    const { TagSet = [] } = await this.#s3
      .call(
        { name: "getBucketTagging", bucket },
        (client, options) => client.getBucketTagging({ Bucket: bucket }, options),
        signal,
      )
      .catch(whenAnswered(["NoSuchTagSet", "NoSuchTagSetError"], { TagSet: [] }));
    const tags = TagSet.map(({ Key = "", Value = "" }) => ({ Key, Value }));
    return { is: "there", tags };
  }

  /** By the account's list, as far as we may read it; else by our own record. */
  async #isOurAccounts(
    bucket: string,
    state: Owned["state"] | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const list = await this.#s3
      .call(
        { name: "listBuckets" },
        (client, options) => client.listBuckets({ Prefix: bucket }, options),
        signal,
      )
      .catch(whenAnswered(["AccessDenied", ...lacking], undefined));
    if (list === undefined) return state !== undefined;
    return (list.Buckets ?? []).some(({ Name }) => Name === bucket);
  }

  async #tag(bucket: string, tags: readonly Tag[], signal: AbortSignal): Promise<void> {
    await this.#s3.call(
      { name: "putBucketTagging", bucket },
      (client, options) =>
        client.putBucketTagging({ Bucket: bucket, Tagging: { TagSet: [...tags] } }, options),
      signal,
    );
  }

  /** Runs `work` when whoever came before is through with that bucket. */
  async #alone<T>(bucket: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(bucket);
    const { promise: mine, resolve } = Promise.withResolvers<void>();
    this.#last.set(bucket, mine);
    try {
      await before;
      return await work();
    } finally {
      resolve();
      if (this.#last.get(bucket) === mine) this.#last.delete(bucket);
    }
  }
}

/** Without a write where it says so already. */
async function record(
  ledger: Ledger,
  name: string,
  state: Owned["state"],
  signal: AbortSignal,
): Promise<void> {
  if (ledger.stateOf("Bucket", name) === state) return;
  await ledger.record({ kind: "Bucket", name, state }, signal);
}
