//! A streamed answer: one call whose arguments come in pieces of five bytes.

use crate::ratios::{BY_HAND, OURS, Ratios};
use crate::time::CpuTime;
use crate::work::{self, stream};
use agent::provider::protocols;
use criterion::{Criterion, Throughput};
use serde_json::json;
use std::hint::black_box;

/// How the bytes come from the connection.
const READ: usize = 16 * 1024;

pub(crate) fn bench(criterion: &mut Criterion<CpuTime>, ratios: &mut Ratios) {
    let short = work::long();
    let long = json!({ "path": "src/main.rs", "new_text": short.repeat(4) }).to_string();
    for wire in protocols() {
        for arguments in [&short, &long] {
            let protocol = wire.protocol();
            let sent = stream::events(protocol, arguments).concat();
            let by_hand = || stream::by_hand(protocol, black_box(&sent));
            let ours = || stream::decode(wire, black_box(&sent).as_bytes().chunks(READ));
            assert_eq!(&by_hand(), arguments);
            assert_eq!(&ours().calls().next().unwrap().arguments, arguments);

            let megabytes = sent.len() / 1_000_000;
            let name = format!("stream {protocol}, {megabytes} MB");
            let mut pair = criterion.benchmark_group(&name);
            pair.throughput(Throughput::Bytes(sent.len() as u64))
                .sample_size(20);
            pair.bench_function(BY_HAND, |bench| bench.iter(by_hand));
            pair.bench_function(OURS, |bench| bench.iter(ours));
            pair.finish();
            ratios.of(&name);
        }
    }
}
