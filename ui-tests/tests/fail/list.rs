use agent::tools;

fn plain() {}

struct Strange;

fn main() {
    let _ = tools![plain];
    let _ = tools![Strange];
    let _ = tools![..Strange];
    let _ = tools![missing];
    let _ = tools![1 + 1];
}
