//! Recursion in every place of the language that recurses: a `RangeError` that the program can catch, never a trap.

use hotcell::runtime::FailureKind;

use super::rig::{completed, ends, failed, still_clean};

const OVERFLOW: &str = "RangeError: Maximum call stack size exceeded";

/// Expressions and statements that recurse without end or very deeply.
const DEEP: &[&str] = &[
    "const f = () => f() + 1; f()",
    "function f(a, b, c, d) { return [f(a, b, c, d)] } f(1, 2, 3, 4)",
    "const f = (...all) => f(...all, 1); f()",
    "const o = { get a() { return this.a } }; o.a",
    "const o = { set a(v) { this.a = v } }; o.a = 1",
    "const o = { toString() { return `${this}` } }; `${o}`",
    "const o = { valueOf() { return this + 1 } }; o + 1",
    "const o = { [Symbol.toPrimitive]() { return +this } }; +o",
    "const o = { toJSON() { return JSON.stringify(this) } }; JSON.stringify(o)",
    "class A { constructor() { return new A() } } new A()",
    "class A { static { new this() } x = new A() } new A()",
    "const p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.x",
    "let p = {}; for (let n = 0; n < 1e5; n++) p = new Proxy(p, {}); p.x",
    "let p = {}; for (let n = 0; n < 1e5; n++) p = new Proxy(p, {}); Object.keys(p)",
    "let p = () => 1; for (let n = 0; n < 1e5; n++) p = new Proxy(p, {}); p()",
    // The name of a bound function grows with every layer.
    "let f = () => 1; for (let n = 0; n < 5e3; n++) f = f.bind(null); f()",
    "let f = class {}; for (let n = 0; n < 5e3; n++) f = f.bind(null); ({}) instanceof f",
    "[1].map(function f() { return [1].map(f) })",
    "[2, 1].sort(function f() { return [2, 1].sort(f).length })",
    "'a'.replace(/a/, function f() { return 'a'.replace(/a/, f) })",
    "JSON.parse('[1]', function f() { return JSON.parse('[1]', f) })",
    "function* g() { yield* g() } [...g()]",
    "function* g() { for (const n of g()) yield n } g().next()",
    "const f = (n) => eval('f(n + 1)'); f(0)",
    "Reflect.apply(function f() { return Reflect.apply(f, null, []) }, null, [])",
    "const f = function () { return f.call(this) }; f()",
    "const f = (strings) => f`x`; f`x`",
    "const f = ({ a = f({}) }) => a; f({})",
    "const it = { [Symbol.iterator]() { return [...it] } }; [...it]",
    "Object.defineProperty(Array.prototype, '5', { get() { return this[5] } }); [][5]",
    "class A extends (function f() { return f() })() {}",
    "const f = () => { try { return f() } finally { } }; f()",
    "const f = () => Promise.resolve().constructor.try(f); const g = () => g(); g()",
    "JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))",
    "JSON.parse('{\"a\":'.repeat(1e5) + '1' + '}'.repeat(1e5))",
    "let v = []; for (let n = 0; n < 1e5; n++) v = [v]; JSON.stringify(v)",
    "let v = {}; for (let n = 0; n < 1e5; n++) v = { v }; JSON.stringify(v)",
    "let v = []; for (let n = 0; n < 1e5; n++) v = [v]; v.flat(Infinity)",
    "let v = []; for (let n = 0; n < 1e5; n++) v = [v]; String(v)",
    "let v = []; for (let n = 0; n < 1e5; n++) v = [v]; structuredClone(v)",
    "let v = {}; for (let n = 0; n < 1e5; n++) v = { v }; structuredClone(v)",
    "let v = new Map(); for (let n = 0; n < 1e5; n++) v = new Map([[1, v]]); structuredClone(v)",
    "eval('('.repeat(1e5) + ')'.repeat(1e5))",
    "eval('['.repeat(1e5) + ']'.repeat(1e5))",
    "eval('!'.repeat(1e5) + '1')",
    "eval('-'.repeat(1) + '(-'.repeat(1e5) + '1' + ')'.repeat(1e5))",
    "eval('{'.repeat(1e5) + '}'.repeat(1e5))",
    "eval('() => '.repeat(1e5) + '1')",
    "eval('a ? b : '.repeat(1e5) + '1')",
    "eval('a = '.repeat(1e5) + '1')",
    "eval('1 ** '.repeat(1e5) + '1')",
    "eval('if (1) '.repeat(1e5) + ';')",
    "eval('new '.repeat(1e5) + 'Object')",
    "eval('`${'.repeat(1e5) + '1' + '}`'.repeat(1e5))",
    "eval('[' .repeat(1e5) + 'a' + ']'.repeat(1e5) + ' = 1')",
    "eval('class A extends '.repeat(1e4) + 'Object' + ' {}'.repeat(1e4))",
    "let f = 'f()'; for (let n = 0; n < 20; n++) f = `eval(${JSON.stringify(f)})`.slice(0, 1e5); const g = () => eval('g()'); g()",
];

#[tokio::test]
async fn rt_03_deep_recursion_is_a_range_error_that_can_be_caught() {
    let mut wrong = Vec::new();
    for statements in DEEP {
        let program = format!(
            "let caught = 'nothing';
             try {{ {statements} }} catch (error) {{ caught = `${{error.name}}: ${{error.message}}` }}
             return caught"
        );
        let seen = ends(program).await;
        if seen != completed(&format!("\"{OVERFLOW}\"")) {
            wrong.push(format!("{statements}\n  {seen:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} end in another way:\n{}", wrong.len(), wrong.join("\n"));
    still_clean().await;
}

/// Deep things that the interpreter does without recursion: they simply work.
const FLAT: &[(&str, &str)] = &[
    ("let s = ''; for (let n = 0; n < 3e5; n++) s = s + 'x'; return s.length", "300000"),
    ("let s = ''; for (let n = 0; n < 3e5; n++) s = 'x' + s; return s.charCodeAt(299999)", "120"),
    ("let s = 'x'; for (let n = 0; n < 3e3; n++) s = n % 2 ? s + 'y' : 'y' + s; return s.indexOf('x')", "1500"),
    ("let v = null; for (let n = 0; n < 3e5; n++) v = { v }; v = null; return 'freed'", "\"freed\""),
    ("let v = []; for (let n = 0; n < 3e5; n++) v = [v]; v = null; return 'freed'", "\"freed\""),
    (
        "let v = () => 1; for (let n = 0; n < 1e5; n++) { const w = v; v = () => w } v = null; return 'freed'",
        "\"freed\"",
    ),
    (
        "let p = Promise.resolve(0); for (let n = 0; n < 1e5; n++) p = p.then((n) => n + 1); return await p",
        "100000",
    ),
    ("const f = async (n) => (n ? await f(n - 1) : 0); return await f(300)", "0"),
    ("return eval('1' + ' + 1'.repeat(1e4))", "10001"),
    ("return eval('[' + '1,'.repeat(1e5) + ']').length", "100000"),
    ("return eval('1' + ', 1'.repeat(1e4))", "1"),
    ("return Math.max(...new Array(6e4).fill(1))", "1"),
    ("return String.fromCharCode.apply(null, new Array(6e4).fill(120)).length", "60000"),
    ("let o = {}; for (let n = 0; n < 1e5; n++) o = Object.create(o); return o.missing === undefined", "true"),
];

#[tokio::test]
async fn deep_values_that_need_no_recursion_work() {
    let mut wrong = Vec::new();
    for (program, result) in FLAT {
        let seen = ends(*program).await;
        if seen != completed(result) {
            wrong.push(format!("{program}\n  {seen:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} end in another way:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn uncaught_recursion_is_an_exception_with_as_many_frames_as_errors_have() {
    let frames = "\n    at f (program.js:1:16)".repeat(10);
    let is = failed(FailureKind::Exception, format!("{OVERFLOW}{frames}"));
    assert_eq!(ends("const f = () => f() + 1;\nf()").await, is);
}

#[tokio::test]
async fn deeply_nested_programs_are_errors_with_a_position() {
    for text in ["(", "[", "!", "{", "a?b:"] {
        let program = text.repeat(100_000);
        let seen = ends(program.as_str()).await;
        let Err((FailureKind::Exception, message)) = &seen.result else { panic!("{text}: {seen:?}") };
        let column =
            message.strip_prefix(&format!("{OVERFLOW}\n    at program.js:1:")).and_then(|at| at.parse().ok());
        assert!(column.is_some_and(|column: usize| (1..program.len()).contains(&column)), "{text}: {message}");
    }
    still_clean().await;
}

#[tokio::test]
async fn deeply_nested_regular_expressions_are_syntax_errors() {
    let program = "
        const nested = (open, close, flags) => {
          try { new RegExp(open.repeat(1e5) + close.repeat(1e5), flags) } catch (error) { return String(error) }
        };
        return [nested('(', ')'), nested('(?:', ')'), nested('(?:a|', ')'), nested('(?=', ')'), nested('[', ']', 'v')]";
    let overflow = "\"SyntaxError: stack overflow\"";
    let captures = "\"SyntaxError: too many captures\"";
    let is = completed(&format!("[{captures},{overflow},{overflow},{overflow},{overflow}]"));
    assert_eq!(ends(program).await, is);
    let seen = ends(format!("return /{}{}/.test('a')", "(?:".repeat(100_000), ")".repeat(100_000))).await;
    assert_eq!(seen, failed(FailureKind::Exception, "SyntaxError: stack overflow\n    at program.js:1:8"));
}

#[tokio::test]
async fn an_overflow_among_parameters_is_reported_as_their_syntax() {
    // The interpreter's own mistake; it is an exception all the same.
    for program in [
        "const f = () => new Function('f', 'return f()')(f); f()",
        "eval('function f() {'.repeat(1e4) + '}'.repeat(1e4))",
    ] {
        let program = format!("try {{ {program} }} catch (error) {{ return String(error) }}");
        assert_eq!(ends(program).await, completed("\"SyntaxError: missing formal parameter\""));
    }
}

#[tokio::test]
async fn too_many_arguments_are_a_range_error() {
    for call in
        ["Math.max(...all)", "Math.max.apply(null, all)", "Reflect.construct(Date, all)", "new Date(...all)"]
    {
        let program = format!(
            "const all = new Array(65536).fill(1);
             try {{ {call} }} catch (error) {{ return String(error) }}"
        );
        let message = "RangeError: too many arguments in function call (only 65535 allowed)";
        assert_eq!(ends(program).await, completed(&format!("\"{message}\"")), "{call}");
    }
    assert_eq!(ends("return Math.max(...new Array(65535).fill(1))").await, completed("1"));
}

#[tokio::test]
async fn async_recursion_without_end_is_caught_too() {
    let program = "
        const f = async () => { await f() };
        try { await f() } catch (error) { return error.name }";
    assert_eq!(ends(program).await, completed("\"RangeError\""));
    let program = "const f = async () => { await null; return await f() }; await f()";
    let request = super::rig::limited(super::rig::request(program), hotcell::limits::Limit::Compute, 100);
    let seen = super::rig::Seen::from(super::rig::run(request).await);
    let message = super::rig::over(hotcell::limits::Limit::Compute, "100ms");
    assert_eq!(seen, failed(FailureKind::Timeout, message));
}
