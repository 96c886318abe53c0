// A loader in Rust, behind the lines of specs/bridge.md. It needs rustc, and no crate.
//
//     rustc -O -o loader specs/examples/bridge/loader.rs
//     pytest conformance --impl="stdio:./loader"
//
// Compiled with --cfg broken it pads by one pass over the samples only, too few where ranks are many.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

const CLAIMS: &str = r#"{"when_dropping":"drop","when_keeping":"pad","layout":"strided","shuffle":"global","length":true,"device_options":true}"#;

// One rank's loader: a shard for each epoch, cut into steps.
struct Loader {
    samples: usize,
    step: usize,
    ranks: usize,
    rank: usize,
    seed: u64,
    shuffle: bool,
    drop_last: bool,
    epoch: u64,
}

impl Loader {
    fn new(asked: &Value) -> Result<Loader, Answer> {
        let factor = |name: &str| {
            let refused = || Answer::Error(format!("{name} is {}, but must be a whole number of at least 1", asked.get(name).written()));
            asked.get(name).number().filter(|&value| value >= 1).ok_or_else(refused)
        };
        let step = factor("batch_size")? * factor("gradient_accumulation")? * factor("replication_factor")? * factor("device_iterations")?;
        let ranks = factor("world_size")?;
        let no_rank = || Answer::Error(format!("rank is {}, but must be one of 0 to {}", asked.get("rank").written(), ranks - 1));
        let rank = asked.get("rank").number().filter(|&rank| rank < ranks).ok_or_else(no_rank)?;
        let samples = asked.get("samples").number().ok_or(Answer::Error("streams are not read".into()))?;
        // As text: a seed may be negative, and then counts from the top; or larger than a double can tell.
        let seed = asked.get("seed").text().parse::<i128>().map_err(|_| Answer::Error("the seed is no number".into()))? as u64;
        let (shuffle, drop_last) = (asked.get("shuffle").truth(), asked.get("drop_last").truth());
        Ok(Loader { samples, step, ranks, rank, seed, shuffle, drop_last, epoch: 0 })
    }

    // Every R-th sample of the order from the rank's own on; the order goes round until all ranks have as many.
    fn shard(&self) -> Vec<usize> {
        let order = if self.shuffle { permutation(self.samples, self.seed, self.epoch) } else { (0..self.samples).collect() };
        let rounds = if self.drop_last { self.samples / self.ranks / self.step * self.step } else { self.samples.div_ceil(self.ranks) };
        let passes = if cfg!(broken) { 2 } else { rounds * self.ranks / self.samples.max(1) + 1 };
        let around = order.iter().cycle().take(self.samples * passes);
        around.copied().skip(self.rank).step_by(self.ranks).take(rounds).collect()
    }
}

// The order of an epoch, by the method of chapter 3: PCG64, seeded with the hash of seed and epoch; 64-bit keys, sorted.
fn permutation(samples: usize, seed: u64, epoch: u64) -> Vec<usize> {
    const MULTIPLIER: u128 = 0x2360ED051FC65DA44385DF649FCCF645;
    let words = seed_words(&[seed as u32, (seed >> 32) as u32, 0, 0, epoch as u32]);
    let wide = |at: usize| (words[at] as u128) << 64 | words[at + 1] as u128;
    let increment = wide(2) << 1 | 1;
    let mut state = increment.wrapping_add(wide(0)).wrapping_mul(MULTIPLIER).wrapping_add(increment);
    let mut key = || {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(increment);
        ((state >> 64) as u64 ^ state as u64).rotate_right((state >> 122) as u32)
    };
    let keys: Vec<u64> = (0..samples).map(|_| key()).collect();
    let mut order: Vec<usize> = (0..samples).collect();
    order.sort_by_key(|&sample| keys[sample]);
    order
}

// Four 64-bit words that hash these 32-bit ones, as numpy's SeedSequence does.
fn seed_words(entropy: &[u32]) -> [u64; 4] {
    let mut factor: u32 = 0x43b0d7e5;
    let mut hashed = |value: u32| {
        let mixed = value ^ factor;
        factor = factor.wrapping_mul(0x931e8875);
        let mixed = mixed.wrapping_mul(factor);
        mixed ^ mixed >> 16
    };
    let mixed = |x: u32, y: u32| {
        let value = x.wrapping_mul(0xca01f9dd).wrapping_sub(y.wrapping_mul(0x4973f715));
        value ^ value >> 16
    };
    let mut pool = [hashed(entropy[0]), hashed(entropy[1]), hashed(entropy[2]), hashed(entropy[3])];
    for from in 0..4 {
        for to in (0..4).filter(|&to| to != from) {
            pool[to] = mixed(pool[to], hashed(pool[from]));
        }
    }
    for &word in &entropy[4..] {
        for to in 0..4 {
            pool[to] = mixed(pool[to], hashed(word));
        }
    }
    let mut factor: u32 = 0x8b51f9dd;
    let mut half = |at: usize| {
        let value = pool[at % 4] ^ factor;
        factor = factor.wrapping_mul(0x58f38ded);
        let value = value.wrapping_mul(factor);
        (value ^ value >> 16) as u64
    };
    [0, 2, 4, 6].map(|at| half(at) | half(at + 1) << 32)
}

// --- the lines ------------------------------------------------------------------------------------------------------

// What may answer an order in place of what was asked for.
enum Answer {
    Raised(String),
    Error(String),
}

fn line() -> Option<Value> {
    let text = io::stdin().lock().lines().next()?.ok()?;
    Some(parsed(&mut text.as_bytes().iter().copied().peekable()))
}

fn say(text: String) {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|_| out.flush()).expect("somebody reads the answers");
}

// The handles of these samples, asked for while an order waits for its answer.
fn read(samples: &[usize]) -> Result<String, Answer> {
    say(format!(r#"{{"read":{samples:?}}}"#));
    let answer = line().ok_or(Answer::Error("the input has ended".into()))?;
    match answer.get("raised") {
        Value::Null => Ok(answer.get("samples").written()),
        handle => Err(Answer::Raised(handle.written())),
    }
}

struct Steps {
    shard: Vec<usize>,
    step: usize,
    at: usize,
}

fn answered(order: &Value, loaders: &mut HashMap<usize, Loader>, iterators: &mut HashMap<usize, Steps>) -> Result<String, Answer> {
    let (op, it) = (order.get("op").text(), order.get("it").number().unwrap_or(0));
    let number = order.get("loader").number().unwrap_or(0);
    match (op, loaders.get_mut(&number)) {
        ("start", _) => return Ok(format!(r#"{{"version":1,"language":"Rust","claims":{CLAIMS},"has":["len","set_epoch"]}}"#)),
        ("open", _) => drop(loaders.insert(number, Loader::new(order.get("request"))?)),
        ("close", _) => drop(loaders.remove(&number)),
        ("drop", _) => drop(iterators.remove(&it)),
        ("next", _) => {
            let steps = iterators.get_mut(&it).ok_or(Answer::Error(format!("there is no iterator {it}")))?;
            let end = steps.shard.len().min(steps.at + steps.step);
            if steps.at == end {
                return Ok(r#"{"end":true}"#.into());
            }
            let step = read(&steps.shard[steps.at..end])?;
            steps.at = end;
            return Ok(format!(r#"{{"step":{step}}}"#));
        }
        ("len", Some(loader)) => return Ok(format!(r#"{{"len":{}}}"#, loader.shard().len().div_ceil(loader.step))),
        ("set_epoch", Some(loader)) => loader.epoch = order.get("epoch").number().unwrap_or(0) as u64,
        ("iter", Some(loader)) => drop(iterators.insert(it, Steps { shard: loader.shard(), step: loader.step, at: 0 })),
        _ => return Err(Answer::Error(format!("{op} is not understood, or loader {number} is closed"))),
    }
    Ok("{}".into())
}

fn main() {
    let (mut loaders, mut iterators) = (HashMap::new(), HashMap::new());
    while let Some(order) = line() {
        say(match answered(&order, &mut loaders, &mut iterators) {
            Ok(answer) => answer,
            Err(Answer::Raised(handle)) => format!(r#"{{"raised":{handle}}}"#),
            Err(Answer::Error(text)) => format!(r#"{{"error":{text:?}}}"#),
        });
    }
}

// --- as much of JSON as the suite writes ------------------------------------------------------------------------------

#[derive(Debug)]
enum Value {
    Null,
    Plain(String), // a number or a truth value, as it is written
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    fn get(&self, name: &str) -> &Value {
        let Value::Map(fields) = self else { return &Value::Null };
        fields.iter().find(|(field, _)| field == name).map_or(&Value::Null, |(_, value)| value)
    }

    fn number(&self) -> Option<usize> {
        let Value::Plain(text) = self else { return None };
        text.parse().ok()
    }

    fn truth(&self) -> bool {
        matches!(self, Value::Plain(text) if text == "true")
    }

    fn text(&self) -> &str {
        if let Value::Text(text) = self { text } else { "" }
    }

    fn written(&self) -> String {
        match self {
            Value::Plain(text) => text.clone(),
            Value::List(values) => format!("[{}]", values.iter().map(Value::written).collect::<Vec<_>>().join(",")),
            _ => "null".into(),
        }
    }
}

type Bytes<'a> = std::iter::Peekable<std::iter::Copied<std::slice::Iter<'a, u8>>>;

fn parsed(text: &mut Bytes) -> Value {
    match text.next() {
        Some(b'"') => Value::Text(quoted(text)),
        Some(b'[') => Value::List(until(b']', text, parsed)),
        Some(b'{') => Value::Map(until(b'}', text, |text| {
            text.next();
            let name = quoted(text);
            text.next();
            (name, parsed(text))
        })),
        first => {
            let mut word: Vec<u8> = first.into_iter().collect();
            while let Some(byte) = text.next_if(|byte| !b",]}".contains(byte)) {
                word.push(byte);
            }
            if word == b"null" { Value::Null } else { Value::Plain(String::from_utf8_lossy(&word).into()) }
        }
    }
}

fn quoted(text: &mut Bytes) -> String {
    let bytes: Vec<u8> = text.take_while(|&byte| byte != b'"').collect();
    String::from_utf8_lossy(&bytes).into()
}

fn until<T>(end: u8, text: &mut Bytes, part: impl Fn(&mut Bytes) -> T) -> Vec<T> {
    let mut parts = vec![];
    while text.next_if_eq(&end).is_none() {
        parts.push(part(text));
        text.next_if_eq(&b',');
    }
    parts
}
