//! The definitions of 64 tools, as they stand in a request.

use crate::time::CpuTime;
use crate::work::tools;
use agent::message::{Message, Transcript};
use agent::model::{Request, RequestOptions};
use agent::provider::{BodyFields, Target, protocols};
use criterion::{BatchSize, Criterion};

pub(crate) fn bench(criterion: &mut Criterion<CpuTime>) {
    let (set, none) = (tools::set(), agent::ToolSet::new());
    let transcript = Transcript::from(vec![Message::user("go")]);
    let (options, fields) = (RequestOptions::default(), BodyFields::new());
    let target = Target::new("m", &fields);
    let mut group = criterion.benchmark_group("definitions of 65 tools");
    for wire in protocols() {
        let encode = |set: &agent::ToolSet| {
            let definitions = set.definitions();
            let request = Request::new(&transcript, &definitions, &options);
            wire.encode(&request, &target).unwrap()
        };
        let name = wire.protocol().as_str();
        group.bench_function(format!("{name}, in a request"), |bench| {
            bench.iter(|| encode(&set));
        });
        group.bench_function(format!("{name}, a request without"), |bench| {
            bench.iter(|| encode(&none));
        });
        group.bench_function(format!("{name}, of a new set"), |bench| {
            bench.iter_batched(|| (), |()| encode(&tools::set()), BatchSize::SmallInput);
        });
    }
    group.finish();
}
