//! Constraints: what they put into the schema, which class of types they need, and what breaks them.

use super::options::equals;
use crate::json::{Json, from_expr};
use crate::keys::{flag, text, value};
use crate::pattern;
use proc_macro2::Ident;
use std::cmp::Ordering;
use syn::parse::ParseStream;
use syn::{Error, Expr, ExprArray, RangeLimits, Result};

pub(crate) struct Constraint {
    pub(crate) key: Ident,
    pub(crate) class: Class,
    /// Keywords of the schema, each with its value.
    pub(crate) keywords: Vec<(&'static str, Json)>,
    /// The numbers in it, which must be of the parameter's own type.
    pub(crate) numbers: Vec<Expr>,
    tests: Vec<Test>,
}

/// The trait that a type must have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Number,
    Text,
    List,
}

enum Test {
    AtLeast(Json),
    AtMost(Json),
    Above(Json),
    Below(Json),
    Multiple(Json),
    Length(Option<i128>, Option<i128>),
    Items(Option<i128>, Option<i128>),
    Pattern(regex_lite::Regex),
    OneOf(Vec<Json>),
    Distinct,
}

/// The constraint of this key; `None` where it is switched off.
pub(crate) fn parse(name: &str, key: &Ident, input: ParseStream<'_>) -> Result<Option<Constraint>> {
    let new = |class| Constraint {
        key: key.clone(),
        class,
        keywords: Vec::new(),
        numbers: Vec::new(),
        tests: Vec::new(),
    };
    let constraint = match name {
        "range" => range(new(Class::Number), key, input)?,
        "length" => sizes(
            new(Class::Text),
            key,
            input,
            ["minLength", "maxLength"],
            Test::Length,
        )?,
        "items" => sizes(
            new(Class::List),
            key,
            input,
            ["minItems", "maxItems"],
            Test::Items,
        )?,
        "exclusive_minimum" => number(
            new(Class::Number),
            key,
            input,
            "exclusiveMinimum",
            Test::Above,
        )?,
        "exclusive_maximum" => number(
            new(Class::Number),
            key,
            input,
            "exclusiveMaximum",
            Test::Below,
        )?,
        "multiple_of" => {
            let constraint = number(new(Class::Number), key, input, "multipleOf", Test::Multiple)?;
            if let Some((expr, (_, step))) =
                constraint.numbers.first().zip(constraint.keywords.first())
                && compare(step, &Json::Int(0)) != Some(Ordering::Greater)
            {
                return Err(Error::new_spanned(
                    expr,
                    "`multiple_of` is a number above 0",
                ));
            }
            constraint
        }
        "pattern" => {
            let literal = text(key, input, "\"^[a-z]+$\"")?;
            let mut constraint = new(Class::Text);
            constraint
                .tests
                .push(Test::Pattern(pattern::compile(&literal)?));
            constraint
                .keywords
                .push(("pattern", Json::Text(literal.value())));
            constraint
        }
        "format" => {
            let literal = text(key, input, "\"date\"")?;
            let mut constraint = new(Class::Text);
            constraint
                .keywords
                .push(("format", Json::Text(literal.value())));
            constraint
        }
        "unique" => {
            if !flag(key, input)? {
                return Ok(None);
            }
            let mut constraint = new(Class::List);
            constraint.keywords.push(("uniqueItems", Json::Bool(true)));
            constraint.tests.push(Test::Distinct);
            constraint
        }
        _ => one_of(new(Class::Text), key, input)?,
    };
    Ok(Some(constraint))
}

fn range(mut constraint: Constraint, key: &Ident, input: ParseStream<'_>) -> Result<Constraint> {
    const EXAMPLE: &str = "1..=10";
    let expr: Expr = value(key, input, EXAMPLE)?;
    let Expr::Range(range) = &expr else {
        return Err(Error::new_spanned(
            expr,
            format!("`range` is a range of numbers: `range = {EXAMPLE}`"),
        ));
    };
    let bound = |bound: &Option<Box<Expr>>| match bound {
        None => Ok(None),
        Some(expr) => literal_number(expr, "range").map(Some),
    };
    let (least, mut most) = (bound(&range.start)?, bound(&range.end)?);
    let open = matches!(range.limits, RangeLimits::HalfOpen(_));
    let mut below = None;
    match &mut most {
        // The last whole number before the end.
        Some(Json::Int(end)) if open => *end = end.saturating_sub(1),
        Some(_) if open => below = most.take(),
        _ => {}
    }
    let empty = match (&least, &most, &below) {
        (None, None, None) => {
            return Err(Error::new_spanned(
                range,
                "`range` without bounds says nothing; take it away",
            ));
        }
        (Some(least), Some(most), _) => compare(least, most) == Some(Ordering::Greater),
        (Some(least), _, Some(below)) => compare(least, below) != Some(Ordering::Less),
        _ => false,
    };
    if empty {
        return Err(Error::new_spanned(
            range,
            "`range` is empty: no number is in it",
        ));
    }
    constraint.numbers = [&range.start, &range.end]
        .into_iter()
        .flatten()
        .map(|bound| (**bound).clone())
        .collect();
    if let Some(least) = least {
        constraint.keywords.push(("minimum", least.clone()));
        constraint.tests.push(Test::AtLeast(least));
    }
    if let Some(most) = most {
        constraint.keywords.push(("maximum", most.clone()));
        constraint.tests.push(Test::AtMost(most));
    }
    if let Some(below) = below {
        constraint
            .keywords
            .push(("exclusiveMaximum", below.clone()));
        constraint.tests.push(Test::Below(below));
    }
    Ok(constraint)
}

fn literal_number(expr: &Expr, key: &str) -> Result<Json> {
    match from_expr(expr) {
        Some(number @ (Json::Int(_) | Json::Float(_))) => Ok(number),
        _ => Err(Error::new_spanned(
            expr,
            format!(
                "`{key}` takes numbers that are written out: the schema must know them when the function is compiled"
            ),
        )),
    }
}

fn number(
    mut constraint: Constraint,
    key: &Ident,
    input: ParseStream<'_>,
    keyword: &'static str,
    test: impl FnOnce(Json) -> Test,
) -> Result<Constraint> {
    let expr: Expr = value(key, input, "0.5")?;
    let number = literal_number(&expr, &key.to_string())?;
    constraint.keywords.push((keyword, number.clone()));
    constraint.tests.push(test(number));
    constraint.numbers.push(expr);
    Ok(constraint)
}

fn sizes(
    mut constraint: Constraint,
    key: &Ident,
    input: ParseStream<'_>,
    [least, most]: [&'static str; 2],
    test: impl FnOnce(Option<i128>, Option<i128>) -> Test,
) -> Result<Constraint> {
    let expr: Expr = value(key, input, "1..=80")?;
    let size = |expr: &Expr| match from_expr(expr) {
        Some(Json::Int(size)) if size >= 0 => Ok(size),
        _ => Err(Error::new_spanned(
            expr,
            format!(
                "`{key}` counts in whole numbers: `{key} = 1..=80`, or one number for exactly so many"
            ),
        )),
    };
    let (low, high) = match &expr {
        Expr::Range(range) => {
            let open = i128::from(matches!(range.limits, RangeLimits::HalfOpen(_)));
            let low = range.start.as_deref().map(size).transpose()?;
            let high = range.end.as_deref().map(size).transpose()?;
            (low, high.map(|high| high - open))
        }
        exact => {
            let exact = size(exact)?;
            (Some(exact), Some(exact))
        }
    };
    if low.is_none() && high.is_none() {
        return Err(Error::new_spanned(
            expr,
            format!("`{key}` without bounds says nothing; take it away"),
        ));
    }
    if high.is_some_and(|high| high < low.unwrap_or_default()) {
        return Err(Error::new_spanned(
            expr,
            format!("`{key}` is empty: no size is in it"),
        ));
    }
    constraint
        .keywords
        .extend(low.map(|low| (least, Json::Int(low))));
    constraint
        .keywords
        .extend(high.map(|high| (most, Json::Int(high))));
    constraint.tests.push(test(low, high));
    Ok(constraint)
}

fn one_of(mut constraint: Constraint, key: &Ident, input: ParseStream<'_>) -> Result<Constraint> {
    const WRITTEN: &str = "`enum` is a list of texts or numbers: `enum = [\"low\", \"high\"]`";
    let input = equals(key, input, "[\"low\", \"high\"]")?;
    let array: ExprArray = input
        .parse()
        .map_err(|error| Error::new(error.span(), WRITTEN))?;
    let mut values: Vec<Json> = Vec::new();
    for expr in &array.elems {
        let Some(value @ (Json::Text(_) | Json::Int(_) | Json::Float(_))) = from_expr(expr) else {
            return Err(Error::new_spanned(expr, WRITTEN));
        };
        if values.contains(&value) {
            return Err(Error::new_spanned(
                expr,
                format!("`enum` has {value} twice"),
            ));
        }
        if values
            .iter()
            .any(|other| matches!(other, Json::Text(_)) != matches!(value, Json::Text(_)))
        {
            return Err(Error::new_spanned(expr, WRITTEN));
        }
        values.push(value);
    }
    match values.first() {
        None => {
            return Err(Error::new_spanned(
                array,
                "`enum` is empty: no value is in it",
            ));
        }
        Some(Json::Text(_)) => {}
        Some(_) => {
            constraint.class = Class::Number;
            constraint.numbers = array.elems.into_iter().collect();
        }
    }
    constraint
        .keywords
        .push(("enum", Json::List(values.clone())));
    constraint.tests.push(Test::OneOf(values));
    Ok(constraint)
}

impl Constraint {
    /// What `value` breaks, if it does; nothing is said of a value of another type, which the compiler refuses by itself.
    pub(crate) fn broken_by(&self, value: &Json) -> Option<String> {
        self.tests.iter().find_map(|test| test.broken_by(value))
    }
}

impl Test {
    fn broken_by(&self, value: &Json) -> Option<String> {
        match (self, value) {
            (Self::AtLeast(least), _) if compare(value, least) == Some(Ordering::Less) => {
                Some(format!("{value} is below the least, {least}"))
            }
            (Self::AtMost(most), _) if compare(value, most) == Some(Ordering::Greater) => {
                Some(format!("{value} is above the most, {most}"))
            }
            (Self::Above(limit), _)
                if matches!(
                    compare(value, limit),
                    Some(Ordering::Less | Ordering::Equal)
                ) =>
            {
                Some(format!("{value} is not above {limit}"))
            }
            (Self::Below(limit), _)
                if matches!(
                    compare(value, limit),
                    Some(Ordering::Greater | Ordering::Equal)
                ) =>
            {
                Some(format!("{value} is not below {limit}"))
            }
            (Self::Multiple(Json::Int(step)), Json::Int(value)) if value % step != 0 => {
                Some(format!("{value} is no multiple of {step}"))
            }
            (Self::Length(least, most), Json::Text(text)) => size(
                i128::try_from(text.chars().count()).ok()?,
                *least,
                *most,
                "characters",
            ),
            (Self::Items(least, most), Json::List(items)) => {
                size(i128::try_from(items.len()).ok()?, *least, *most, "items")
            }
            (Self::Pattern(pattern), Json::Text(text)) if !pattern.is_match(text) => {
                Some(format!("{value} does not match `pattern`"))
            }
            (Self::OneOf(values), Json::Text(_) | Json::Int(_) | Json::Float(_))
                if !values.contains(value) =>
            {
                Some(format!("{value} is not in `enum`"))
            }
            (Self::Distinct, Json::List(items)) => {
                let twice = items
                    .iter()
                    .enumerate()
                    .find(|(at, item)| items.iter().take(*at).any(|other| other == *item))?;
                Some(format!("{} is in it twice", twice.1))
            }
            _ => None,
        }
    }
}

fn size(size: i128, least: Option<i128>, most: Option<i128>, unit: &str) -> Option<String> {
    if least.is_some_and(|least| size < least) || most.is_some_and(|most| size > most) {
        return Some(format!("it has {size} {unit}"));
    }
    None
}

/// The order of two numbers; whole ones exactly.
fn compare(a: &Json, b: &Json) -> Option<Ordering> {
    match (a, b) {
        (Json::Int(a), Json::Int(b)) => Some(a.cmp(b)),
        _ => float(a)?.partial_cmp(&float(b)?),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a whole number beside a fraction is rounded as the compiler would"
)]
fn float(number: &Json) -> Option<f64> {
    match number {
        Json::Int(int) => Some(*int as f64),
        Json::Float(float) => Some(*float),
        _ => None,
    }
}
