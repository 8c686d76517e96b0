//! The JSON boundary where texts are too long for a file, and the values that cannot cross, in both directions.

use hotcell::runtime::{CallState, FailureKind};

use super::rig::{Seen, completed, ends, failed};

/// Expressions that JSON would lose, and what is said after the value's path.
const LOSSY: &[(&str, &str)] = &[
    ("() => 1", " is a function, which JSON cannot carry"),
    ("class A {}", " is a function, which JSON cannot carry"),
    ("async function* f() {}", " is a function, which JSON cannot carry"),
    ("Math.max", " is a function, which JSON cannot carry"),
    ("Symbol('s')", " is a symbol, which JSON cannot carry"),
    ("Symbol.iterator", " is a symbol, which JSON cannot carry"),
    ("Object(Symbol('s'))", " is of class Symbol, which JSON cannot carry"),
    ("[undefined]", "[0] is undefined in an array, which JSON cannot carry; use null"),
    ("[1, [2, undefined]]", "[1][1] is undefined in an array, which JSON cannot carry; use null"),
    ("[{ toJSON() {} }]", "[0] is undefined in an array, which JSON cannot carry; use null"),
    ("[, 1]", "[0] is a hole in a sparse array, which JSON cannot carry; use null"),
    ("[1, , 3]", "[1] is a hole in a sparse array, which JSON cannot carry; use null"),
    ("new Array(3)", "[0] is a hole in a sparse array, which JSON cannot carry; use null"),
    (
        "(() => { const a = [1]; a[5] = 2; return a })()",
        "[1] is a hole in a sparse array, which JSON cannot carry; use null",
    ),
    (
        "(() => { const a = [1]; a.length = 2; return a })()",
        "[1] is a hole in a sparse array, which JSON cannot carry; use null",
    ),
    ("(() => { const o = {}; o.o = o; return o })()", ".o refers back to an object that contains it"),
    ("(() => { const a = []; a.push(1, [a]); return a })()", "[1][0] refers back to an object that contains it"),
    (
        "(() => { const o = { a: { b: [{}] } }; o.a.b[0].c = o.a; return o })()",
        ".a.b[0].c refers back to an object that contains it",
    ),
    (
        "(() => { const o = { toJSON: () => o }; return [[o]] })()",
        "[0][0].toJSON is a function, which JSON cannot carry",
    ),
    ("NaN", " is NaN, which JSON cannot carry; use null or a string"),
    ("[0 / 0]", "[0] is NaN, which JSON cannot carry; use null or a string"),
    ("new Number(NaN)", " is NaN, which JSON cannot carry; use null or a string"),
    ("Infinity", " is infinite, which JSON cannot carry; use null or a string"),
    ("-Infinity", " is infinite, which JSON cannot carry; use null or a string"),
    ("'\\ud800'", " holds a lone surrogate, which is not valid Unicode"),
    ("'\\udfff'", " holds a lone surrogate, which is not valid Unicode"),
    ("'a😀b\\udc00c'", " holds a lone surrogate, which is not valid Unicode"),
    ("'\\ude00\\ud83d'", " holds a lone surrogate, which is not valid Unicode"),
    ("'😀'[0]", " holds a lone surrogate, which is not valid Unicode"),
    ("new String('\\ud800')", " holds a lone surrogate, which is not valid Unicode"),
    ("{ '\\udc00': 1 }", "[\"\\udc00\"] has a lone surrogate in its name, which is not valid Unicode"),
    ("{ 'a\\ud800b': { c: 1 } }", "[\"a\\ud800b\"] has a lone surrogate in its name, which is not valid Unicode"),
    ("new Map()", " is a Map, which JSON cannot carry; use Object.fromEntries(map) or [...map]"),
    (
        "new (class Mine extends Map {})()",
        " is a Map, which JSON cannot carry; use Object.fromEntries(map) or [...map]",
    ),
    ("new Set([1])", " is a Set, which JSON cannot carry; use [...set]"),
    ("new WeakMap()", " is of class WeakMap, which JSON cannot carry"),
    ("new WeakSet()", " is of class WeakSet, which JSON cannot carry"),
    ("new WeakRef({})", " is of class WeakRef, which JSON cannot carry"),
    ("new Uint8Array(2)", " is of class Uint8Array, which JSON cannot carry; use Array.from(array)"),
    ("new Float64Array()", " is of class Float64Array, which JSON cannot carry; use Array.from(array)"),
    ("new BigInt64Array(1)", " is of class BigInt64Array, which JSON cannot carry; use Array.from(array)"),
    (
        "new ArrayBuffer(2)",
        " is of class ArrayBuffer, which JSON cannot carry; use Array.from(new Uint8Array(buffer))",
    ),
    (
        "new DataView(new ArrayBuffer(2))",
        " is of class DataView, which JSON cannot carry; use Array.from(new Uint8Array(buffer))",
    ),
    ("new Error('x')", " is an Error, which JSON cannot carry; use error.message or String(error)"),
    ("new ToolCallError('x')", " is an Error, which JSON cannot carry; use error.message or String(error)"),
    ("new AggregateError([])", " is an Error, which JSON cannot carry; use error.message or String(error)"),
    ("[Promise.resolve(1)]", "[0] is a Promise: missing await?"),
    ("[(async () => 1)()]", "[0] is a Promise: missing await?"),
    ("/x/g", " is a RegExp, which JSON cannot carry; use regexp.source"),
    ("(function* () {})()", " is of class Generator, which JSON cannot carry"),
    ("[1].values()", " is of class Array Iterator, which JSON cannot carry"),
    ("new Proxy(() => {}, {})", " is a function, which JSON cannot carry"),
    ("new Proxy([1, , 2], {})", "[1] is a hole in a sparse array, which JSON cannot carry; use null"),
    ("new Proxy(new Map(), {})", ""),
    ("{ a: { 'we ird': [1, { b: () => 1 }] } }", ".a[\"we ird\"][1].b is a function, which JSON cannot carry"),
    (
        "{ $a_1: { 1: { '1a': [NaN] } } }",
        ".$a_1[\"1\"][\"1a\"][0] is NaN, which JSON cannot carry; use null or a string",
    ),
    ("{ '路径': NaN }", "[\"路径\"] is NaN, which JSON cannot carry; use null or a string"),
    ("{ '': NaN }", "[\"\"] is NaN, which JSON cannot carry; use null or a string"),
];

#[tokio::test]
async fn wb_06_what_json_would_lose_is_refused_with_its_path_in_both_directions() {
    let mut wrong = Vec::new();
    for &(expression, said) in LOSSY {
        if said.is_empty() {
            // What is behind a proxy is seen only through its traps: a Map has no fields to show.
            let both = completed("[{\"v\":{}},{\"v\":{}}]").calls("echo", 1, CallState::Done);
            let program = format!("const v = {expression}; return [{{ v }}, await tools.echo({{ v }})]");
            assert_eq!(ends(program).await, both);
            continue;
        }
        let returned = ends(format!("return {{ v: {expression} }}")).await;
        if returned != failed(FailureKind::InvalidOutput, format!("result.v{said}")) {
            wrong.push(format!("return {expression}: {returned:?}"));
        }
        let call = format!(
            "try {{ await tools.echo({{ v: {expression} }}) }} catch (error) {{ return [error.name, error.message] }}"
        );
        let passed = ends(call).await;
        let message = hotcell::json::encode(&format!("tools.echo: arguments.v{said}").as_str().into());
        if passed != completed(&format!("[\"TypeError\",{message}]")) {
            wrong.push(format!("echo {expression}: {passed:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} end in another way:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn wb_06_a_lossy_value_at_the_top_is_named_by_its_root() {
    for (expression, said) in [
        ("new Map()", "result is a Map, which JSON cannot carry; use Object.fromEntries(map) or [...map]"),
        ("NaN", "result is NaN, which JSON cannot carry; use null or a string"),
        ("'\\ud800'", "result holds a lone surrogate, which is not valid Unicode"),
        ("() => 1", "result is a function, which JSON cannot carry"),
        ("Symbol()", "result is a symbol, which JSON cannot carry"),
    ] {
        assert_eq!(ends(format!("return {expression}")).await, failed(FailureKind::InvalidOutput, said));
    }
    let seen = ends("return await tools.echo(new Set()).catch(String)").await;
    assert_eq!(
        seen,
        completed("\"TypeError: tools.echo: arguments is a Set, which JSON cannot carry; use [...set]\"")
    );
}

#[tokio::test]
async fn wb_06_a_long_path_is_cut_in_the_middle_and_a_long_key_at_its_end() {
    let path = "let v = NaN; for (let n = 0; n < 40; n++) v = n % 2 ? { k: v } : [v]; return v";
    let said =
        "result.k[0].k[0].k[0].k[0]….k[0].k[0].k[0].k[0] is NaN, which JSON cannot carry; use null or a string";
    assert_eq!(ends(path).await, failed(FailureKind::InvalidOutput, said));
    let key = "return { ['k'.repeat(1000)]: NaN }";
    let said = format!(
        "result[\"{}… (936 more characters)\"] is NaN, which JSON cannot carry; use null or a string",
        "k".repeat(64)
    );
    assert_eq!(ends(key).await, failed(FailureKind::InvalidOutput, said));
}

/// A program that gives back what the host's value is, and how it left as an argument and as the result.
fn round_trip(json: &str) -> String {
    format!(
        "const v = await tools.value({{ json: '{json}' }});
         return [typeof v, Object.is(v, -0) ? '-0' : String(v), await tools.text(v), v];"
    )
}

#[tokio::test]
async fn rg_08_numbers_keep_their_value_in_both_directions() {
    for (json, kind, shown, text) in [
        ("0", "number", "0", "0"),
        ("-1", "number", "-1", "-1"),
        ("1.0", "number", "1", "1"),
        ("-0.0", "number", "-0", "-0.0"),
        ("0.0", "number", "0", "0"),
        ("1.5", "number", "1.5", "1.5"),
        ("0.1", "number", "0.1", "0.1"),
        ("1e-7", "number", "1e-7", "1e-7"),
        ("5e-324", "number", "5e-324", "5e-324"),
        ("2.2250738585072014e-308", "number", "2.2250738585072014e-308", "2.2250738585072014e-308"),
        ("123456.789e3", "number", "123456789", "123456789"),
        ("1e3", "number", "1000", "1000"),
        ("1e21", "number", "1e+21", "1000000000000000000000"),
        ("-1e21", "number", "-1e+21", "-1000000000000000000000"),
        ("2251799813685248.5", "number", "2251799813685248.5", "2251799813685248.5"),
        ("9007199254740992.0", "number", "9007199254740992", "9007199254740992"),
        ("2147483647", "number", "2147483647", "2147483647"),
        ("2147483648", "number", "2147483648", "2147483648"),
        ("-2147483648", "number", "-2147483648", "-2147483648"),
        ("-2147483649", "number", "-2147483649", "-2147483649"),
        ("999999999999999", "number", "999999999999999", "999999999999999"),
        ("9007199254740990", "number", "9007199254740990", "9007199254740990"),
        ("9007199254740991", "number", "9007199254740991", "9007199254740991"),
        ("-9007199254740991", "number", "-9007199254740991", "-9007199254740991"),
        ("9007199254740992", "bigint", "9007199254740992", "9007199254740992"),
        ("-9007199254740992", "bigint", "-9007199254740992", "-9007199254740992"),
        ("9007199254740993", "bigint", "9007199254740993", "9007199254740993"),
        ("9223372036854775807", "bigint", "9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "bigint", "-9223372036854775808", "-9223372036854775808"),
        ("18446744073709551616", "bigint", "18446744073709551616", "18446744073709551616"),
        (
            "100000000000000000000000000000",
            "bigint",
            "100000000000000000000000000000",
            "100000000000000000000000000000",
        ),
    ] {
        let seen = ends(round_trip(json)).await;
        let is = completed(&format!("[\"{kind}\",\"{shown}\",\"{text}\",{text}]"));
        assert_eq!(seen, is.calls("value", 1, CallState::Done).calls("text", 1, CallState::Done), "{json}");
    }
}

#[tokio::test]
async fn rg_08_a_program_s_own_numbers_leave_with_their_exact_value() {
    for (expression, text) in [
        ("-0", "-0.0"),
        ("[-0]", "[-0.0]"),
        ("0 * -1", "-0.0"),
        ("1.0", "1"),
        ("1 / 3", "0.3333333333333333"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("2 ** 53", "9007199254740992"),
        ("2 ** 53 + 2", "9007199254740994"),
        ("-(2 ** 63)", "-9223372036854775808"),
        ("1e23", "99999999999999991611392"),
        ("123456789012345680000", "123456789012345683968"),
        ("9007199254740993n", "9007199254740993"),
        ("-5n", "-5"),
        ("0n", "0"),
        ("-0n", "0"),
        ("2n ** 200n", "1606938044258990275541962092341162602522202993782792835301376"),
        ("new Number(-0)", "-0.0"),
        ("Number.MIN_VALUE", "5e-324"),
        ("Number.EPSILON", "2.220446049250313e-16"),
        ("1e-6", "1e-6"),
        ("1.7976931348623157e308 / 1e300", "179769313.48623157"),
    ] {
        assert_eq!(ends(format!("return {expression}")).await, completed(text), "{expression}");
        let is = completed(&hotcell::json::encode(&text.into())).calls("text", 1, CallState::Done);
        assert_eq!(ends(format!("return await tools.text({expression})")).await, is, "{expression}");
    }
    let greatest = format!("{:.0}", f64::MAX);
    assert_eq!(ends("return Number.MAX_VALUE").await, completed(&greatest));
    assert_eq!(ends("return -Number.MAX_VALUE").await, completed(&format!("-{greatest}")));
}

#[tokio::test]
async fn rg_08_integers_of_4096_digits_cross_and_one_more_does_not() {
    let seen = ends("const n = 10n ** 4096n - 1n; return [await tools.echo(n) === n, -n]").await;
    let is = completed(&format!("[true,-{}]", "9".repeat(4096))).calls("echo", 1, CallState::Done);
    assert_eq!(seen, is);

    let lossless = "not JSON that can cross without loss";
    let digits = "integer of 4097 digits is longer than 4096 digits";
    let seen = ends("return { a: [10n ** 4096n] }").await;
    let message = format!("the guest's result is {lossless}: {digits} at $.a[0] (byte 6)");
    assert_eq!(seen, failed(FailureKind::InvalidOutput, message));
    let seen = ends("await tools.echo({ n: 10n ** 4096n })").await;
    let message = format!(
        "ToolCallError: the arguments are {lossless}: {digits} at $.n (byte 5)\n    at <program> (program.js:1:12)"
    );
    assert_eq!(seen, failed(FailureKind::Exception, message));
    let seen =
        ends("return await tools.value({ json: '1' + '0'.repeat(4096) }).catch((error) => error.message)").await;
    assert_eq!(seen, completed(&format!("\"{digits} at $ (byte 0)\"")).calls("value", 1, CallState::Failed));
}

#[tokio::test]
async fn rg_08_raw_json_that_no_value_holds_is_refused_by_the_host() {
    for (text, said) in [
        ("1e400", "float 1e400 is beyond 1.7976931348623157e308, the largest binary64 at $.v (byte 5)"),
        ("\"\\ud800\"", "lone surrogate \\ud800 at $.v (byte 6)"),
    ] {
        let message = format!("the guest's result is not JSON that can cross without loss: {said}");
        let seen = ends(format!("return {{ v: JSON.rawJSON({}) }}", hotcell::json::encode(&text.into()))).await;
        assert_eq!(seen, failed(FailureKind::InvalidOutput, message));
    }
}

#[tokio::test]
async fn rt_03_huge_messages_are_cut() {
    let place = "\n    at <program> (program.js:2:17)";
    let error = |message: String| failed(FailureKind::Exception, message);
    let whole = ends("const text = 'x'.repeat(16384);\nthrow new Error(text)").await;
    assert_eq!(whole, error(format!("Error: {}{place}", "x".repeat(16_384))));
    let cut = ends("const text = 'x'.repeat(16385);\nthrow new Error(text)").await;
    assert_eq!(cut, error(format!("Error: {}… (1 more characters){place}", "x".repeat(16_384))));
    let cut = ends("throw 'é'.repeat(40000)").await;
    let said = "the program threw a value that is not an Error: ";
    assert_eq!(cut, error(format!("{said}'{}'… (30000 more characters)", "é".repeat(10_000))));
    let name = ends("const name = 'N'.repeat(1000);\nthrow Object.assign(new Error('m'), { name })").await;
    let place = "\n    at <program> (program.js:2:25)";
    assert_eq!(name, error(format!("{}… (744 more characters): m{place}", "N".repeat(256))));
    let many = ends("throw Array.from({ length: 100 }, () => 'y'.repeat(9000))").await;
    let Err((FailureKind::Exception, message)) = many.result else { panic!("{many:?}") };
    assert!(message.len() < 100_000, "{} bytes", message.len());
}

/// A program whose `v` is this many levels deep: a scalar is none.
fn deep(levels: usize, wrap: &str, rest: &str) -> String {
    format!("let v = 0; for (let n = 0; n < {levels}; n++) v = {wrap}; {rest}")
}

#[tokio::test]
async fn rg_09_512_levels_cross_in_both_directions_and_513_do_not() {
    for (wrap, open, close, step) in [("[v]", "[", "]", "[0]"), ("{ k: v }", "{\"k\":", "}", ".k")] {
        let nested = format!("{}0{}", open.repeat(512), close.repeat(512));
        assert_eq!(ends(deep(512, wrap, "return v")).await, completed(&nested));
        let echoed = completed(&nested).calls("echo", 1, CallState::Done);
        assert_eq!(ends(deep(512, wrap, "return await tools.echo(v)")).await, echoed);

        let path = format!("{0}…{0}", step.repeat(8));
        let said = "is nested too deeply: 512 levels are the limit";
        for levels in [513, 1000, 100_000] {
            let seen = ends(deep(levels, wrap, "return v")).await;
            assert_eq!(seen, failed(FailureKind::InvalidOutput, format!("result{path} {said}")));
            let seen =
                ends(deep(levels, wrap, "return await tools.echo(v).catch((error) => error.message)")).await;
            assert_eq!(seen, completed(&format!("\"tools.echo: arguments{path} {said}\"")));
        }
    }
    let json = "'['.repeat(513) + ']'.repeat(513)";
    let seen = ends(format!(
        "return await tools.value({{ json: {json} }}).catch((error) => error.message.length < 1000)"
    ))
    .await;
    assert_eq!(seen, completed("true").calls("value", 1, CallState::Failed));
}

#[tokio::test]
async fn texts_of_a_megabyte_cross_in_both_directions() {
    for unit in ["x", "é", "😀", "\\u0000", "\"", "\u{2028}"] {
        let program = format!(
            "const text = '{unit}'.repeat(2 ** 20); const back = await tools.echo({{ text }});
             return [back.text === text, back.text.length]"
        );
        let length = if unit == "😀" { 1 << 21 } else { 1 << 20 };
        let is = completed(&format!("[true,{length}]")).calls("echo", 1, CallState::Done);
        assert_eq!(ends(program).await, is, "{unit}");
    }
    let seen = ends("return 'é'.repeat(2 ** 20)").await;
    assert_eq!(seen, completed(&format!("\"{}\"", "é".repeat(1 << 20))));
}

#[tokio::test]
async fn many_small_values_cross_in_both_directions() {
    let program = "
        const all = Array.from({ length: 20000 }, (_, n) => ({ n, s: `s${n}`, f: n / 8, list: [n, null, true] }));
        const back = await tools.echo(all);
        return [JSON.stringify(back) === JSON.stringify(all), back.length]";
    assert_eq!(ends(program).await, completed("[true,20000]").calls("echo", 1, CallState::Done));
}

#[tokio::test]
async fn nul_and_line_ends_in_programs_are_the_program_s_own() {
    assert_eq!(ends("return 'a\0b'.length").await, completed("3"));
    assert_eq!(ends("// a\u{2028}return 1").await, completed("1"));
    assert_eq!(ends("return 'a\u{2028}b'.length").await, completed("3"));
    assert_eq!(ends("\u{feff}return 1").await, completed("1"));
    assert_eq!(ends("return `a\r\nb`.length").await, completed("3"));
    let nul = failed(FailureKind::Exception, "Error: a\0b\n    at <program> (program.js:1:11)");
    assert_eq!(ends("throw new Error('a\\0b')").await, nul);
    assert_eq!(ends("console.log('a\\0b')").await, Seen::default().logs(&["a\0b"]));
}

#[tokio::test]
async fn cm_03_positions_count_every_kind_of_line_end() {
    for (program, line, column) in [
        ("const a = 1;\r\nreturn +;", 2, 9),
        ("const a = 1;\r\n\r\n  return +;\r\n", 3, 11),
        ("const a = 1;\n\n\n\nreturn +;", 5, 9),
        ("const s = `a\r\nb\r\n${+}`;", 3, 4),
        ("/* a\r\nb */ return +;", 2, 14),
        ("// a\r\nreturn +;", 2, 9),
        ("'a\\\r\nb'; return +;", 2, 13),
        ("\treturn +;", 1, 10),
    ] {
        let sign = if program.contains("${") { '}' } else { ';' };
        let message =
            format!("SyntaxError: unexpected token in expression: '{sign}'\n    at program.js:{line}:{column}");
        assert_eq!(ends(program).await, failed(FailureKind::Exception, message), "{program:?}");
    }
    for (program, line, column) in [
        ("const a = 1;\r\nnull.x", 2, 1),
        ("const s = `a\r\nb`;\r\n  null.x", 3, 3),
        ("/* a\nb */\n\n null.x", 4, 2),
    ] {
        let message =
            format!("TypeError: cannot read property 'x' of null\n    at <program> (program.js:{line}:{column})");
        assert_eq!(ends(program).await, failed(FailureKind::Exception, message), "{program:?}");
    }
}
