//! One call, from the text of its arguments to the text of its result.

use crate::ratios::{BY_HAND, OURS, Ratios};
use crate::time::CpuTime;
use crate::work::{self, by_hand, tools};
use agent::ToolContext;
use criterion::Criterion;
use futures_util::FutureExt;
use std::hint::black_box;

pub(crate) fn bench(criterion: &mut Criterion<CpuTime>, ratios: &mut Ratios) {
    let (set, context) = (tools::set(), ToolContext::for_test());
    for (what, name, arguments) in [
        (
            "a, two small arguments",
            "get_weather",
            work::SMALL.to_owned(),
        ),
        (
            "b, twelve of every kind",
            "plan_trip",
            work::MIXED.to_owned(),
        ),
        ("c, 200 nested structs", "import_orders", work::many()),
        ("d, a text of 100 KB", "edit_file", work::long()),
        ("e, invalid", "get_weather", work::WRONG.to_owned()),
    ] {
        let by_hand = || by_hand::call(name, black_box(&arguments)).now_or_never();
        let ours = || {
            set.call_text(name, black_box(&arguments), &context)
                .now_or_never()
        };
        let answers = (by_hand().unwrap(), ours().unwrap());
        assert!(
            answers.0.is_ok() == answers.1.is_ok(),
            "{what}: {answers:?}"
        );

        let group = format!("call {what}");
        let mut pair = criterion.benchmark_group(&group);
        pair.bench_function(BY_HAND, |bench| bench.iter(by_hand));
        pair.bench_function(OURS, |bench| bench.iter(ours));
        pair.finish();
        ratios.of(&group);
    }
}
