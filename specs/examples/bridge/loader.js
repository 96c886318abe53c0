// A loader in JavaScript, behind the lines of specs/bridge.md. It needs node, and no package.
//
//     pytest conformance --impl="stdio:node specs/examples/bridge/loader.js"

const { createHash } = require("node:crypto");
const { readSync, writeSync } = require("node:fs");

const CLAIMS = {
  datasets: ["map", "iterable"], when_dropping: "drop", when_keeping: "uneven", layout: "strided", shuffle: "global",
  length: true, device_options: true, iterable_workers: "split", resume: true, end_of_epoch: "next",
};
const FACTORS = ["batch_size", "gradient_accumulation", "replication_factor", "device_iterations"];

// One rank's loader. `epoch` and `skip` say where the next iterator begins; `going` is the latest one.
class Loader {
  constructor(asked) {
    for (const name of [...FACTORS, "world_size"])
      if (!Number.isInteger(asked[name]) || asked[name] < 1)
        throw new Error(`${name} is ${asked[name]}, but must be a whole number of at least 1`);
    if (!Number.isInteger(asked.rank) || asked.rank < 0 || asked.rank >= asked.world_size)
      throw new Error(`rank is ${asked.rank}, but must be one of 0 to ${asked.world_size - 1}`);
    this.asked = asked;
    this.step = FACTORS.reduce((product, name) => product * asked[name], 1);
    Object.assign(this, { epoch: 0, skip: 0, going: null });
  }

  // The numbers of the samples; shuffled, by the hash of (seed, epoch, number).
  order() {
    const numbers = Array.from({ length: this.asked.samples }, (_, number) => number);
    if (!this.asked.shuffle) return numbers;
    const key = (number) => createHash("sha256").update(`${this.asked.seed} ${this.epoch} ${number}`).digest("hex");
    const keyed = numbers.map((number) => [key(number), number]);
    return keyed.sort((one, other) => (one[0] < other[0] ? -1 : 1)).map(([, number]) => number);
  }

  // The samples of this rank: every R-th of the order, from its own on.
  shard() {
    const { world_size: ranks, rank, drop_last } = this.asked;
    const mine = this.order().filter((_, place) => place % ranks === rank);
    return drop_last ? mine.slice(0, Math.floor(this.asked.samples / (ranks * this.step)) * this.step) : mine;
  }

  // The steps of an epoch; null of a stream.
  length() {
    return this.asked.samples === null ? null : Math.ceil(this.shard().length / this.step);
  }

  iterator() {
    this.going = this.asked.samples === null ? new StreamSteps(this, this.skip) : new Steps(this, this.skip);
    this.skip = 0;
    return this.going;
  }

  // The epoch that is read next. That of a loaded state changes nothing.
  setEpoch(epoch) {
    if (epoch !== this.epoch) Object.assign(this, { epoch, skip: 0, going: null });
  }

  // Where it is, and of which request that is true.
  state() {
    const { samples, batch_size, world_size, seed, shuffle, drop_last } = this.asked;
    const of = JSON.stringify({ samples, batch_size, world_size, seed, shuffle, drop_last });
    return { epoch: this.epoch, taken: this.going ? this.going.taken : this.skip, of };
  }

  restore(state) {
    const { of } = this.state();
    if (state.of !== of) throw new Error(`the state is of ${state.of}, but this loader of ${of}`);
    Object.assign(this, { epoch: state.epoch, skip: state.taken, going: null });
  }
}

// One iterator: which step comes next.
class Steps {
  constructor(loader, taken) {
    Object.assign(this, { shard: loader.shard(), step: loader.step, taken });
  }

  next() {
    const numbers = this.shard.slice(this.taken * this.step, (this.taken + 1) * this.step);
    if (numbers.length === 0) return [];
    const { samples } = ask({ read: numbers });
    this.taken += 1;
    return samples;
  }
}

// The same over a stream. A round is one element for each rank; this rank's own one is delivered.
class StreamSteps {
  constructor(loader, taken) {
    Object.assign(this, { asked: loader.asked, step: loader.step, taken });
    this.round = loader.step * this.asked.world_size;
    this.stream = ask({ stream: true }).stream;
    if (taken > 0) ask({ pull: this.stream, count: taken * this.round });
  }

  next() {
    const { samples } = ask({ pull: this.stream, count: this.round });
    const step = samples.filter((_, place) => place % this.asked.world_size === this.asked.rank);
    if (step.length === 0 || (this.asked.drop_last && step.length < this.step)) return [];
    this.taken += 1;
    return step;
  }
}

// --- the lines ------------------------------------------------------------------------------------------------------

// A sample has raised. What it was the suite knows by its handle.
class Raised extends Error {
  constructor(handle) {
    super("a sample has raised");
    this.handle = handle;
  }
}

const buffer = Buffer.alloc(1 << 16); // one for all lines: memory that is thrown away looks like a leak until it is freed
let rest = "";

// The next line of the suite's; null at the end. It waits, for nothing else is to be done meanwhile.
function line() {
  for (;;) {
    const end = rest.indexOf("\n");
    if (end >= 0) {
      const found = rest.slice(0, end);
      rest = rest.slice(end + 1);
      return found;
    }
    const read = readSync(0, buffer);
    if (read === 0) return null;
    rest += buffer.toString("latin1", 0, read); // the suite writes nothing beyond ASCII
  }
}

function say(message) {
  writeSync(1, JSON.stringify(message) + "\n");
}

// Asks the suite for samples, while an order of its own waits for an answer.
function ask(question) {
  say(question);
  const answer = JSON.parse(line());
  if ("raised" in answer) throw new Raised(answer.raised);
  return answer;
}

// Answers orders until there are no more.
function serve(kind) {
  const loaders = new Map();
  const iterators = new Map();
  const answers = {
    start: () => ({ version: 1, name: "an example", language: "JavaScript", claims: CLAIMS, has: ["len", "set_epoch", "state"] }),
    open: ({ loader, request }) => void loaders.set(loader, new kind(request)),
    len: ({ loader }) => {
      const length = loaders.get(loader).length();
      return length === null ? { unknown: true } : { len: length };
    },
    set_epoch: ({ loader, epoch }) => void loaders.get(loader).setEpoch(epoch),
    iter: ({ loader, it }) => void iterators.set(it, loaders.get(loader).iterator()),
    next: ({ it }) => {
      const step = iterators.get(it).next();
      return step.length > 0 ? { step } : { end: true };
    },
    state: ({ loader }) => ({ state: loaders.get(loader).state() }),
    restore: ({ loader, state }) => void loaders.get(loader).restore(state),
    drop: ({ it }) => void iterators.delete(it),
    close: ({ loader }) => void loaders.delete(loader),
  };
  for (let text = line(); text !== null; text = line()) {
    try {
      const order = JSON.parse(text);
      say(answers[order.op](order) ?? {});
    } catch (error) {
      say(error instanceof Raised ? { raised: error.handle } : { error: String(error) });
    }
  }
}

module.exports = { Loader, serve };
if (require.main === module) serve(Loader);
