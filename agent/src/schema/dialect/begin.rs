//! What the objects of a union begin with, for a provider that tells them apart by it.
//!
//! OpenAI's reasoning models of the first generations refuse objects in one `anyOf` that begin with the same key (`must not
//! share identical first keys`), unless it has another value in each. The order of keys means nothing to who reads them,
//! so the one that tells them apart is put first.

use super::apart::values;
use crate::schema::inline::name_of;
use crate::schema::pointer::push_key;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// No chain of references is followed further.
const MOST_HOPS: usize = 32;

/// The objects of one union.
struct Union {
    /// Where it stands: a JSON pointer.
    path: String,
    /// Where they stand.
    objects: Vec<String>,
}

/// Puts first in each object what tells it from the others of its union. Gives the places of unions where nothing does.
pub(super) fn differently(root: &mut Value) -> Vec<String> {
    let mut unions = Vec::new();
    gather(root, root, &mut String::new(), &mut unions);
    for union in &unions {
        let objects = union.objects(root);
        if !begin_alike(&objects) {
            continue;
        }
        let first: Vec<Option<String>> = match tag(&objects) {
            Some(name) => vec![Some(name.to_owned()); objects.len()],
            None => own_keys(&objects),
        };
        for (object, name) in union.objects.iter().zip(first) {
            if let (Some(Value::Object(object)), Some(name)) = (root.pointer_mut(object), name) {
                put_first(object, &name);
            }
        }
    }
    // An object may stand in several unions.
    unions
        .into_iter()
        .filter(|union| begin_alike(&union.objects(root)))
        .map(|union| union.path)
        .collect()
}

impl Union {
    fn objects<'s>(&self, root: &'s Value) -> Vec<&'s Value> {
        let found = self.objects.iter();
        found.filter_map(|object| root.pointer(object)).collect()
    }
}

fn gather(root: &Value, schema: &Value, path: &mut String, unions: &mut Vec<Union>) {
    let Some(object) = schema.as_object() else {
        return;
    };
    let length = path.len();
    for (key, inside) in object {
        match (key.as_str(), inside) {
            ("properties" | "$defs", Value::Object(members)) => {
                for (name, member) in members {
                    push_key(path, key);
                    push_key(path, name);
                    gather(root, member, path, unions);
                    path.truncate(length);
                }
            }
            ("items", item) => {
                push_key(path, key);
                gather(root, item, path, unions);
                path.truncate(length);
            }
            ("anyOf", Value::Array(alternatives)) => {
                let mut objects = Vec::new();
                for (at, alternative) in alternatives.iter().enumerate() {
                    push_key(path, key);
                    push_key(path, &at.to_string());
                    objects.extend(object_at(root, alternative, path));
                    gather(root, alternative, path, unions);
                    path.truncate(length);
                }
                if objects.len() > 1 {
                    let path = path.clone();
                    unions.push(Union { path, objects });
                }
            }
            _ => {}
        }
    }
}

/// Where the object stands that an alternative is: there, or where a reference leads.
fn object_at(root: &Value, alternative: &Value, path: &str) -> Option<String> {
    let (mut schema, mut at) = (alternative, path.to_owned());
    for _ in 0..MOST_HOPS {
        let only = schema.get("anyOf").and_then(Value::as_array);
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            at.clear();
            if let Some(name) = name_of(target) {
                push_key(&mut at, "$defs");
                push_key(&mut at, &name);
            }
            schema = root.pointer(&at)?;
        } else if let Some([only]) = only.map(Vec::as_slice) {
            at.push_str("/anyOf/0");
            schema = only;
        } else {
            return properties(schema).next().is_some().then_some(at);
        }
    }
    None
}

fn properties(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let properties = object.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

/// Whether two begin with one key that does not tell them apart by its value.
fn begin_alike(objects: &[&Value]) -> bool {
    let firsts = objects
        .iter()
        .filter_map(|object| properties(object).next());
    let mut by_key: HashMap<&str, Vec<&Value>> = HashMap::new();
    for (name, schema) in firsts {
        by_key.entry(name).or_default().push(schema);
    }
    by_key.into_values().any(|schemas| !are_disjoint(&schemas))
}

/// Whether there is one, or each lists its values and no two of them one.
fn are_disjoint(schemas: &[&Value]) -> bool {
    let mut known = HashSet::new();
    schemas.len() < 2
        || schemas.iter().all(|schema| {
            let values = values(schema).unwrap_or_default();
            !values.is_empty() && values.iter().all(|value| known.insert(value.to_string()))
        })
}

/// A key that all have, with other values in each.
fn tag<'s>(objects: &[&'s Value]) -> Option<&'s str> {
    let (first, _) = objects.split_first()?;
    let mut names = properties(first).map(|(name, _)| name.as_str());
    names.find(|name| {
        let of = |object: &&'s Value| object.get("properties")?.get(*name);
        let tags: Option<Vec<&Value>> = objects.iter().map(of).collect();
        tags.is_some_and(|tags| are_disjoint(&tags))
    })
}

/// For each, the first key that no other has.
fn own_keys(objects: &[&Value]) -> Vec<Option<String>> {
    let mut owners: HashMap<&str, usize> = HashMap::new();
    for (name, _) in objects.iter().flat_map(|object| properties(object)) {
        *owners.entry(name).or_default() += 1;
    }
    let own = |object: &&Value| {
        let mut names = properties(object).map(|(name, _)| name);
        names
            .find(|name| owners.get(name.as_str()) == Some(&1))
            .cloned()
    };
    objects.iter().map(own).collect()
}

fn put_first(object: &mut Map<String, Value>, name: &str) {
    if let Some(Value::Object(properties)) = object.get_mut("properties")
        && let Some(member) = properties.shift_remove(name)
    {
        properties.shift_insert(0, name.to_owned(), member);
    }
    if let Some(Value::Array(required)) = object.get_mut("required")
        && let Some(at) = required.iter().position(|one| one == name)
    {
        required.get_mut(..=at).unwrap_or_default().rotate_right(1);
    }
}
