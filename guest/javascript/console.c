// See console.h.
//
// Invariant: printing runs none of the program's code and never throws.
#include "console.h"

#include <math.h>
#include <string.h>

#include "guest.h"
#include "inspect.h"
#include "interpreter.h"

#define INDENT_LIMIT 20
// A string that is printed itself is not cut: the host's limits on output decide.
#define UNCUT UINT32_MAX

static uint32_t indent;

enum { PRINT, ASSERT, GROUP };

static void argument(Text *out, JSContext *ctx, JSValueConst value) {
    if (JS_IsString(value)) text_string(out, ctx, value, UNCUT);
    else inspect(out, ctx, value);
}

// One of the `%` forms of a first argument that is a format. False for a letter that is none.
static bool directive(Text *out, JSContext *ctx, char letter, JSValueConst value) {
    double number;
    switch (letter) {
    case 's':
        argument(out, ctx, value);
        return true;
    case 'd': case 'i': case 'f':
        if (JS_IsNumber(value) && !JS_ToFloat64(ctx, &number, value) && letter == 'i') {
            JSValue whole = JS_NewNumber(ctx, trunc(number));
            inspect(out, ctx, whole);
            JS_FreeValue(ctx, whole);
        } else if (JS_IsNumber(value) || JS_IsBigInt(value)) {
            inspect(out, ctx, value);
        } else {
            text_literal(out, "NaN");
        }
        return true;
    case 'o': case 'O': case 'j':
        inspect(out, ctx, value);
        return true;
    case 'c':
        return true;
    default:
        return false;
    }
}

// The first argument with its directives filled in. Returns how many arguments it used.
static int formatted(Text *out, JSContext *ctx, int argc, JSValueConst *argv) {
    Text format = {0};
    int used = 1;
    text_string(&format, ctx, argv[0], UNCUT);
    for (size_t i = 0; i < format.length; i++) {
        char c = format.bytes[i], letter = i + 1 < format.length ? format.bytes[i + 1] : 0;
        if (c == '%' && letter == '%') {
            i++;
        } else if (c == '%' && used < argc && directive(out, ctx, letter, argv[used])) {
            used++;
            i++;
            continue;
        }
        text_char(out, c);
    }
    out->failed |= format.failed;
    text_free(&format);
    return used;
}

static void entry_text(Text *out, JSContext *ctx, int argc, JSValueConst *argv) {
    int used = argc > 1 && JS_IsString(argv[0]) ? formatted(out, ctx, argc, argv) : 0;
    for (int i = used; i < argc; i++) {
        if (i) text_char(out, ' ');
        argument(out, ctx, argv[i]);
    }
}

void console_emit(const Text *entry) {
    guest_string_t text = borrowed(entry);
    if (running) hotcell_guest_host_method_execution_log(execution, &text);
}

static void emit_indented(const Text *entry) {
    Text out = {0};
    for (size_t i = 0; i <= entry->length; i++) {
        if (!i || entry->bytes[i - 1] == '\n')
            for (uint32_t n = 0; n < indent; n++) text_literal(&out, "  ");
        if (i < entry->length) text_char(&out, entry->bytes[i]);
    }
    if (!out.failed) console_emit(&out);
    text_free(&out);
}

static JSValue print(JSContext *ctx, JSValueConst receiver, int argc, JSValueConst *argv, int what) {
    (void)receiver;
    Text out = {0};
    if (what == ASSERT) {
        if (argc && JS_ToBool(ctx, argv[0])) return JS_UNDEFINED;
        text_literal(&out, argc > 1 ? "Assertion failed: " : "Assertion failed");
        argc = argc ? argc - 1 : 0;
        argv++;
    }
    if (what != GROUP || argc) {
        entry_text(&out, ctx, argc, argv);
        if (out.failed) {
            text_free(&out);
            return JS_ThrowOutOfMemory(ctx);
        }
        if (indent) emit_indented(&out);
        else console_emit(&out);
    }
    if (what == GROUP && indent < INDENT_LIMIT) indent++;
    text_free(&out);
    return JS_UNDEFINED;
}

static JSValue group_end(JSContext *ctx, JSValueConst receiver, int argc, JSValueConst *argv) {
    (void)ctx, (void)receiver, (void)argc, (void)argv;
    if (indent) indent--;
    return JS_UNDEFINED;
}

static void method(JSContext *ctx, JSValueConst console, const char *name, int what) {
    JSValue function = JS_NewCFunctionMagic(ctx, print, name, 0, JS_CFUNC_generic_magic, what);
    JS_DefinePropertyValueStr(ctx, console, name, function, JS_PROP_C_W_E);
}

void console_bind(JSContext *ctx, JSValueConst global) {
    static const char *const printing[] = {"log", "info", "warn", "error", "debug", "dir", "table", "trace"};
    JSValue console = JS_NewObject(ctx);
    for (size_t i = 0; i < sizeof printing / sizeof *printing; i++) method(ctx, console, printing[i], PRINT);
    method(ctx, console, "assert", ASSERT);
    method(ctx, console, "group", GROUP);
    JS_DefinePropertyValueStr(ctx, console, "groupEnd", JS_NewCFunction(ctx, group_end, "groupEnd", 0), JS_PROP_C_W_E);
    JS_DefinePropertyValueStr(ctx, global, "console", console, JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
}
