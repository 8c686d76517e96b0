//! Programs for any guest: a plan of steps, and an interpreter of plans in every language.
//!
//! A plan is a JSON array of steps, taken one after another; names stand for what earlier steps have put there:
//!
//! | step | |
//! |---|---|
//! | `["log", text]` | logs a line |
//! | `["start", name, tool, arguments]` | calls a tool without waiting |
//! | `["await", name]` | waits for a call that was started; its failure ends the program |
//! | `["try", name]` | the same; its failure becomes `{"failed": message}` |
//! | `["call", name, tool, arguments]` | starts and awaits |
//! | `["order", name, [names]]` | waits for calls, and puts their names in the order in which they settled |
//! | `["flood", name, tool, count]` | starts this many calls at once, awaits all, and counts how they ended |
//! | `["length", name, of]` | the length of a text; what is no text as it is |
//! | `["yield"]`, `["cancel", name]` | lets calls progress; gives a call up (only where there is no interpreter) |
//! | `["members", name]` | the names of the tools |
//! | `["throw", message]`, `["hang"]` | ends the program; waits for what cannot come |
//! | `["return", {"of": name}]`, `["return", value]` | ends it with what is there, or with a value |

use std::collections::HashMap;
use std::sync::Arc;

use hotcell::json::{self, Value};
use hotcell::runtime::{CodeRuntime, Script, ScriptedRuntime};

/// A runtime to try, and how it takes a plan.
pub struct Subject {
    pub name: &'static str,
    pub runtime: Arc<dyn CodeRuntime>,
    program: fn(&str) -> String,
}

impl Subject {
    /// The program that follows a plan.
    pub fn program(&self, plan: &str) -> String {
        (self.program)(plan)
    }
}

/// All runtimes there are.
pub async fn subjects() -> Vec<Subject> {
    #[cfg(feature = "wasm")]
    return vec![scripted(), javascript().await];
    #[cfg(not(feature = "wasm"))]
    return std::future::ready(vec![scripted()]).await;
}

/// The JavaScript guest.
#[cfg(feature = "wasm")]
pub async fn javascript() -> Subject {
    Subject {
        name: "javascript",
        runtime: Arc::new(crate::support::engine::javascript_runtime().await),
        program: |plan| JAVASCRIPT.replace("PLAN", plan),
    }
}

/// The runtime without an interpreter.
pub fn scripted() -> Subject {
    closure(follow)
}

/// The same, with a program of its own in the place of plans.
pub fn closure<F, T>(program: F) -> Subject
where
    F: Fn(Script) -> T + Send + Sync + 'static,
    T: Future<Output = Result<Option<Value>, String>> + Send + 'static,
{
    Subject { name: "scripted", runtime: Arc::new(ScriptedRuntime::new(program)), program: str::to_owned }
}

#[cfg(feature = "wasm")]
const JAVASCRIPT: &str = r#"
const there = {};
for (const [step, ...part] of PLAN) {
  const [name] = part;
  switch (step) {
    case "log": console.log(name); break;
    case "start": there[name] = tools[part[1]](part[2]); break;
    case "await": there[name] = await there[name]; break;
    case "call": there[name] = await tools[part[1]](part[2]); break;
    case "try":
      try { there[name] = await there[name]; }
      catch (error) {
        if (!(error instanceof ToolCallError)) throw error;
        there[name] = { failed: error.message };
      }
      break;
    case "order": {
      const order = [];
      const settled = (one) => () => { order.push(one); };
      await Promise.all(part[1].map((one) => there[one].then(settled(one), settled(one))));
      there[name] = order;
      break;
    }
    case "flood": {
      const all = await Promise.allSettled(Array.from({ length: part[2] }, () => tools[part[1]]({})));
      const failed = all.filter((one) => one.status === "rejected");
      there[name] = { done: all.length - failed.length, failed: failed.length, why: failed[0]?.reason.message ?? null };
      break;
    }
    case "length": there[name] = typeof there[part[1]] === "string" ? there[part[1]].length : there[part[1]]; break;
    case "members": there[name] = Object.keys(tools); break;
    case "throw": throw new Error(name);
    case "hang": await new Promise(() => {}); break;
    case "return": return name !== null && typeof name === "object" && "of" in name ? there[name.of] : name;
    default: throw new Error(`unknown step ${step}`);
  }
}
"#;

/// What a name stands for.
enum There {
    Call(u64),
    Value(Value),
}

async fn follow(script: Script) -> Result<Option<Value>, String> {
    let plan = json::decode(script.program()).map_err(|error| error.to_string())?;
    let mut there: HashMap<String, There> = HashMap::new();
    for step in plan.as_array().into_iter().flatten() {
        let part = |index: usize| step.as_array().and_then(|step| step.get(index)).cloned().unwrap_or(Value::Null);
        let text = |index: usize| part(index).as_str().unwrap_or_default().to_owned();
        let (what, name) = (text(0), text(1));
        let call_of = |there: &HashMap<String, There>, name: &str| match there.get(name) {
            Some(There::Call(call)) => *call,
            _ => panic!("`{name}` is no call"),
        };
        match &*what {
            "log" => script.log(&name)?,
            "start" => {
                let call = script.submit(&text(2), &part(3))?;
                there.insert(name, There::Call(call));
            }
            "await" => {
                let value = script.wait(call_of(&there, &name)).await.map_err(|error| error.to_string())?;
                there.insert(name, There::Value(value));
            }
            "call" => {
                let value = script.call(&text(2), &part(3)).await.map_err(|error| error.to_string())?;
                there.insert(name, There::Value(value));
            }
            "try" => {
                let value = script.wait(call_of(&there, &name)).await.unwrap_or_else(|error| {
                    let failed = [("failed".to_owned(), Value::from(error.message()))];
                    failed.into_iter().collect::<json::Object>().into()
                });
                there.insert(name, There::Value(value));
            }
            "order" => {
                let names = part(2);
                let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
                let waiting = names.map(|name| (call_of(&there, name), name.to_owned())).collect();
                there.insert(name, There::Value(order(&script, waiting).await?));
            }
            "flood" => {
                there.insert(name, There::Value(flood(&script, &text(2), part(3).as_i64().unwrap_or(0)).await));
            }
            "length" => {
                let length = length(&there, &text(2));
                there.insert(name, There::Value(length));
            }
            "yield" => tokio::task::yield_now().await,
            "cancel" => script.cancel(call_of(&there, &name)),
            "members" => {
                let members: Vec<Value> = script.members().iter().map(|name| Value::from(&**name)).collect();
                there.insert(name, There::Value(members.into()));
            }
            "throw" => return Err(format!("Error: {name}")),
            "hang" => {
                std::future::pending::<()>().await;
            }
            "return" => {
                let of = part(1).get("of").and_then(Value::as_str).map(str::to_owned);
                return Ok(Some(match of.and_then(|name| there.remove(&name)) {
                    Some(There::Value(value)) => value,
                    _ => part(1),
                }));
            }
            unknown => panic!("unknown step `{unknown}`"),
        }
    }
    Ok(None)
}

/// The names of calls in the order in which they settle.
async fn order(script: &Script, mut waiting: Vec<(u64, String)>) -> Result<Value, String> {
    let mut order = Vec::new();
    while !waiting.is_empty() {
        let calls: Vec<u64> = waiting.iter().map(|(call, _)| *call).collect();
        let first = script.wait_any(&calls).await.map_err(|error| error.to_string())?;
        // Whether it failed does not matter here.
        drop(script.wait(first).await);
        let place = calls.iter().position(|call| *call == first).expect("it is one of them");
        order.push(Value::from(waiting.remove(place).1));
    }
    Ok(order.into())
}

/// The length of a text; what is no text as it is.
fn length(there: &HashMap<String, There>, name: &str) -> Value {
    let Some(There::Value(value)) = there.get(name) else { panic!("`{name}` is no value") };
    value.as_str().map_or_else(|| value.clone(), |text| Value::from(text.len() as u64))
}

/// Starts calls at once, awaits them, and counts how they ended.
async fn flood(script: &Script, tool: &str, count: i64) -> Value {
    let arguments = Value::from(json::Object::new());
    let (mut done, mut failed, mut why) = (0_i64, 0_i64, Value::Null);
    let mut fails = |message: String| {
        if failed == 0 {
            why = message.into();
        }
        failed += 1;
    };
    let started: Vec<_> = (0..count).map(|_| script.submit(tool, &arguments)).collect();
    for call in started {
        match call {
            Err(message) => fails(message),
            Ok(call) => match script.wait(call).await {
                Ok(_) => done += 1,
                Err(error) => fails(error.message().to_owned()),
            },
        }
    }
    [("done".to_owned(), Value::from(done)), ("failed".to_owned(), Value::from(failed)), ("why".to_owned(), why)]
        .into_iter()
        .collect::<json::Object>()
        .into()
}
