// See inspect.h.
//
// Invariant: nothing here calls into the program. Properties are read as descriptors, accessors are named and not
// called, a proxy is never asked. Recursion is bounded by DEPTH, the whole text by LENGTH.
#include "inspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interpreter.h"
#include "errors.h"

#define DEPTH 5
#define ENTRIES 100
#define STRING_UNITS 10000
#define LENGTH 65536
// Longer than this, or with a line break inside, and a container is written one entry a line.
#define LINE 72
// Arrays whose entries are no longer than this are filled line by line.
#define SHORT_ENTRY 16

typedef struct {
    JSContext *ctx;
    // The containers that are being written, for cycles.
    JSValue open[DEPTH];
    uint32_t depth;
    size_t budget;
} Inspector;

static void any(Inspector *in, Text *out, JSValueConst value);

static void forget_exception(JSContext *ctx) {
    JS_FreeValue(ctx, JS_GetException(ctx));
}

// An own property without running its getter: 1 for data, 2 for an accessor, 0 for none.
static int own(JSContext *ctx, JSValueConst object, JSAtom key, JSValue *value) {
    JSPropertyDescriptor found;
    *value = JS_UNDEFINED;
    int state = JS_IsProxy(object) ? 0 : JS_GetOwnProperty(ctx, &found, object, key);
    if (state < 0) forget_exception(ctx);
    if (state <= 0) return 0;
    JS_FreeValue(ctx, found.getter);
    JS_FreeValue(ctx, found.setter);
    if (found.flags & JS_PROP_GETSET) return 2;
    *value = found.value;
    return 1;
}

JSValue data_property(JSContext *ctx, JSValueConst object, const char *name) {
    JSAtom key = JS_NewAtom(ctx, name);
    JSValue at = JS_DupValue(ctx, object), value = JS_UNDEFINED;
    for (int i = 0; i < 64 && JS_IsObject(at) && !JS_IsProxy(at) && !own(ctx, at, key, &value); i++) {
        JSValue prototype = JS_GetPrototype(ctx, at);
        JS_FreeValue(ctx, at);
        at = prototype;
    }
    JS_FreeValue(ctx, at);
    JS_FreeAtom(ctx, key);
    return value;
}

JSValue element(JSContext *ctx, JSValueConst array, uint32_t index) {
    JSValue value;
    JSAtom key = JS_NewAtomUInt32(ctx, index);
    own(ctx, array, key, &value);
    JS_FreeAtom(ctx, key);
    return value;
}

// --- scalars --------------------------------------------------------------------------------------------------------

static void quoted(Inspector *in, Text *out, JSValueConst string) {
    StringView view;
    if (!string_view(in->ctx, string, &view)) {
        forget_exception(in->ctx);
        return;
    }
    uint32_t end = view.length < STRING_UNITS ? view.length : STRING_UNITS;
    text_char(out, '\'');
    for (uint32_t i = 0; i < end;) {
        uint32_t c = view_code_point(&view, &i);
        switch (c) {
        case '\'': text_literal(out, "\\'"); break;
        case '\\': text_literal(out, "\\\\"); break;
        case '\n': text_literal(out, "\\n"); break;
        case '\r': text_literal(out, "\\r"); break;
        case '\t': text_literal(out, "\\t"); break;
        default: text_code_point(out, c);
        }
    }
    text_char(out, '\'');
    if (end < view.length) {
        text_literal(out, "… (");
        text_number(out, view.length - end);
        text_literal(out, " more characters)");
    }
    view_free(in->ctx, &view);
}

static void converted(Inspector *in, Text *out, JSValueConst primitive) {
    JSValue string = JS_ToString(in->ctx, primitive);
    if (JS_IsException(string)) forget_exception(in->ctx);
    else text_string(out, in->ctx, string, STRING_UNITS);
    JS_FreeValue(in->ctx, string);
}

static void symbol(Inspector *in, Text *out, JSValueConst value) {
    JSAtom atom = JS_ValueToAtom(in->ctx, value);
    JSValue description = JS_AtomToString(in->ctx, atom);
    text_literal(out, "Symbol(");
    converted(in, out, description);
    text_char(out, ')');
    JS_FreeValue(in->ctx, description);
    JS_FreeAtom(in->ctx, atom);
}

static void name_of(Inspector *in, Text *out, JSValueConst holder, const char *fallback) {
    JSValue name = data_property(in->ctx, holder, "name");
    StringView view;
    if (JS_IsString(name) && string_view(in->ctx, name, &view)) {
        if (view.length) text_string(out, in->ctx, name, 128);
        else text_literal(out, fallback);
        view_free(in->ctx, &view);
    } else {
        text_literal(out, fallback);
    }
    JS_FreeValue(in->ctx, name);
}

static void function(Inspector *in, Text *out, JSValueConst value) {
    if (JS_IsProxy(value)) {
        text_literal(out, "[Function: proxy]");
        return;
    }
    text_literal(out, JS_IsAsyncFunction(value) ? "[AsyncFunction: " : "[Function: ");
    name_of(in, out, value, "(anonymous)");
    text_char(out, ']');
}

// --- containers -----------------------------------------------------------------------------------------------------

// The entries of one container, written one after another into `text`.
typedef struct {
    Text text;
    size_t ends[ENTRIES + 2];
    uint32_t count;
} Entries;

static void end_entry(Inspector *in, Entries *entries) {
    size_t start = entries->count ? entries->ends[entries->count - 1] : 0;
    size_t used = entries->text.length - start;
    in->budget -= used < in->budget ? used : in->budget;
    entries->ends[entries->count++] = entries->text.length;
}

static bool full(Inspector *in, const Entries *entries) {
    return entries->count >= ENTRIES || !in->budget;
}

static void more(Inspector *in, Entries *entries, uint64_t left) {
    if (!left || entries->count > ENTRIES) return;
    text_literal(&entries->text, "… ");
    text_number(&entries->text, left);
    text_literal(&entries->text, " more");
    end_entry(in, entries);
}

static bool all_short(const Entries *entries) {
    for (uint32_t i = 0, start = 0; i < entries->count; start = entries->ends[i++])
        if (entries->ends[i] - start > SHORT_ENTRY) return false;
    return true;
}

// Puts the entries between brackets: on one line if they fit, else one a line, or many a line if they are all short.
static void assemble(Text *out, Entries *entries, char open, char close) {
    text_char(out, open);
    bool broken = entries->text.length && memchr(entries->text.bytes, '\n', entries->text.length);
    bool one_line = !broken && entries->text.length + 2 * entries->count <= LINE;
    bool filled = !broken && open == '[' && all_short(entries);
    size_t start = 0, column = LINE;
    for (uint32_t i = 0; i < entries->count; i++) {
        size_t width = entries->ends[i] - start + 2;
        bool same_line = one_line || (filled && column + width <= LINE);
        column = same_line ? column + width : width;
        if (i) text_char(out, ',');
        text_literal(out, same_line ? " " : "\n  ");
        for (size_t at = start; at < entries->ends[i]; at++) {
            char c = entries->text.bytes[at];
            text_char(out, c);
            if (c == '\n') text_literal(out, "  ");
        }
        start = entries->ends[i];
    }
    if (entries->count) text_char(out, one_line ? ' ' : '\n');
    text_char(out, close);
    out->failed |= entries->text.failed;
    text_free(&entries->text);
}

static bool bare_key(const StringView *key) {
    if (!key->narrow || !key->length) return false;
    for (uint32_t i = 0; i < key->length; i++) {
        uint8_t c = key->narrow[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
        if (!word) return false;
    }
    return true;
}

static void property_key(Inspector *in, Text *out, JSAtom atom) {
    StringView view;
    JSValue key = JS_AtomToValue(in->ctx, atom);
    if (JS_IsSymbol(key)) {
        text_char(out, '[');
        symbol(in, out, key);
        text_char(out, ']');
    } else {
        JSValue string = JS_ToString(in->ctx, key);
        if (!JS_IsException(string) && string_view(in->ctx, string, &view)) {
            if (bare_key(&view)) text_bytes(out, (const char *)view.narrow, view.length);
            else quoted(in, out, string);
            view_free(in->ctx, &view);
        }
        JS_FreeValue(in->ctx, string);
    }
    JS_FreeValue(in->ctx, key);
}

// The enumerable own properties; of an array only those that are no elements.
static void properties(Inspector *in, Entries *entries, JSValueConst object, bool array) {
    JSPropertyEnum *keys;
    uint32_t count;
    if (JS_GetOwnPropertyNames(in->ctx, &keys, &count, object,
                               JS_GPN_STRING_MASK | JS_GPN_SYMBOL_MASK | JS_GPN_ENUM_ONLY) < 0) {
        forget_exception(in->ctx);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        JSValue value;
        // An element's key is a number, which is kept in the atom itself.
        if (array && keys[i].atom >> 31) continue;
        if (full(in, entries)) {
            more(in, entries, count - i);
            break;
        }
        int state = own(in->ctx, object, keys[i].atom, &value);
        property_key(in, &entries->text, keys[i].atom);
        text_literal(&entries->text, ": ");
        if (state == 2) text_literal(&entries->text, "[Getter]");
        else any(in, &entries->text, value);
        JS_FreeValue(in->ctx, value);
        end_entry(in, entries);
    }
    JS_FreePropertyEnum(in->ctx, keys, count);
}

// The elements, then the array's other properties if it has any.
static void elements(Inspector *in, Entries *entries, JSValueConst array) {
    bool only_elements;
    uint32_t length = array_length(array, &only_elements);
    for (uint32_t i = 0; i < length; i++) {
        if (full(in, entries)) {
            more(in, entries, length - i);
            return;
        }
        JSAtom key = JS_NewAtomUInt32(in->ctx, i);
        JSValue value;
        int state = own(in->ctx, array, key, &value);
        if (state == 1) any(in, &entries->text, value);
        else text_literal(&entries->text, state ? "[Getter]" : "<empty>");
        JS_FreeValue(in->ctx, value);
        JS_FreeAtom(in->ctx, key);
        end_entry(in, entries);
    }
    if (!only_elements) properties(in, entries, array, true);
}

static void map_entries(Inspector *in, Entries *entries, JSValueConst object, bool map) {
    JSValue key, value;
    void *cursor = NULL;
    for (uint32_t seen = 0; next_entry(object, &cursor, &key, &value); seen++) {
        if (full(in, entries)) {
            more(in, entries, entry_count(object) - seen);
            return;
        }
        any(in, &entries->text, key);
        if (map) {
            text_literal(&entries->text, " => ");
            any(in, &entries->text, value);
        }
        end_entry(in, entries);
    }
}

// The name of the class an object was made by, when it is worth saying.
static void class_prefix(Inspector *in, Text *out, JSValueConst object) {
    JSValue prototype = JS_GetPrototype(in->ctx, object);
    if (JS_IsNull(prototype)) {
        text_literal(out, "[Object: null prototype] ");
    } else if (JS_IsObject(prototype)) {
        JSValue constructor = data_property(in->ctx, prototype, "constructor");
        JSValue name = JS_IsObject(constructor) ? data_property(in->ctx, constructor, "name") : JS_UNDEFINED;
        StringView view;
        if (JS_IsString(name) && string_view(in->ctx, name, &view)) {
            bool plain = view.narrow && view.length == 6 && !memcmp(view.narrow, "Object", 6);
            if (view.length && !plain) {
                text_string(out, in->ctx, name, 128);
                text_char(out, ' ');
            }
            view_free(in->ctx, &view);
        }
        JS_FreeValue(in->ctx, name);
        JS_FreeValue(in->ctx, constructor);
    }
    JS_FreeValue(in->ctx, prototype);
}

static void counted(Text *out, const char *name, uint64_t count) {
    text_literal(out, name);
    text_char(out, '(');
    text_number(out, count);
    text_literal(out, ") ");
}

static void class_name(Inspector *in, Text *out, JSValueConst object) {
    JSAtom atom = JS_GetClassName(JS_GetRuntime(in->ctx), JS_GetClassID(object));
    const char *name = JS_AtomToCString(in->ctx, atom);
    text_literal(out, name ? name : "Object");
    JS_FreeCString(in->ctx, name);
    JS_FreeAtom(in->ctx, atom);
}

static void promise(Inspector *in, Text *out, JSValueConst object) {
    JSPromiseStateEnum state = JS_PromiseState(in->ctx, object);
    text_literal(out, "Promise { ");
    if (state == JS_PROMISE_PENDING) {
        text_literal(out, "<pending>");
    } else {
        if (state == JS_PROMISE_REJECTED) text_literal(out, "<rejected> ");
        JSValue result = JS_PromiseResult(in->ctx, object);
        any(in, out, result);
        JS_FreeValue(in->ctx, result);
    }
    text_literal(out, " }");
}

// What an error carries besides its message, in properties that are not enumerable.
static void hidden(Inspector *in, Entries *entries, JSValueConst error) {
    static const char *const names[] = {"cause", "errors"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        JSValue value;
        JSAtom key = JS_NewAtom(in->ctx, names[i]);
        if (own(in->ctx, error, key, &value)) {
            text_char(&entries->text, '[');
            text_literal(&entries->text, names[i]);
            text_literal(&entries->text, "]: ");
            any(in, &entries->text, value);
            end_entry(in, entries);
        }
        JS_FreeValue(in->ctx, value);
        JS_FreeAtom(in->ctx, key);
    }
}

static void container(Inspector *in, Text *out, JSValueConst object, Kind kind) {
    Entries *entries = calloc(1, sizeof *entries);
    if (!entries) {
        out->failed = true;
        return;
    }
    bool array = kind == KIND_ARRAY || kind == KIND_TYPED_ARRAY;
    if (kind == KIND_MAP || kind == KIND_SET) {
        counted(out, kind == KIND_MAP ? "Map" : "Set", entry_count(object));
        map_entries(in, entries, object, kind == KIND_MAP);
    } else if (array) {
        if (kind == KIND_TYPED_ARRAY) {
            class_name(in, out, object);
            text_char(out, ' ');
        }
        elements(in, entries, object);
    } else if (kind == KIND_OTHER) {
        class_name(in, out, object);
        text_char(out, ' ');
    } else if (kind != KIND_ERROR) {
        class_prefix(in, out, object);
    }
    if (kind == KIND_ERROR) hidden(in, entries, object);
    if (!array) properties(in, entries, object, false);
    if (kind != KIND_ERROR || entries->count) {
        if (kind == KIND_ERROR) text_char(out, ' ');
        assemble(out, entries, array ? '[' : '{', array ? ']' : '}');
    } else {
        text_free(&entries->text);
    }
    free(entries);
}

static void simple_object(Inspector *in, Text *out, JSValueConst object, Kind kind) {
    JSValue inner;
    switch (kind) {
    case KIND_FUNCTION:
        function(in, out, object);
        break;
    case KIND_PROXY:
        text_literal(out, "Proxy {}");
        break;
    case KIND_REGEXP:
        inner = regexp_text(in->ctx, object);
        converted(in, out, inner);
        JS_FreeValue(in->ctx, inner);
        break;
    case KIND_BOXED:
        inner = unbox(in->ctx, object);
        text_char(out, '[');
        class_name(in, out, object);
        text_literal(out, ": ");
        any(in, out, inner);
        text_char(out, ']');
        JS_FreeValue(in->ctx, inner);
        break;
    case KIND_DATE:
        inner = date_text(in->ctx, object);
        if (JS_IsNull(inner)) text_literal(out, "Invalid Date");
        else converted(in, out, inner);
        JS_FreeValue(in->ctx, inner);
        break;
    default:
        class_name(in, out, object);
        text_literal(out, " {}");
    }
}

static void object(Inspector *in, Text *out, JSValueConst value) {
    Kind kind = object_kind(in->ctx, value);
    bool nests = kind == KIND_PLAIN || kind == KIND_ARRAY || kind == KIND_MAP || kind == KIND_SET ||
                 kind == KIND_TYPED_ARRAY || kind == KIND_ERROR || kind == KIND_PROMISE || kind == KIND_OTHER;
    if (!nests) {
        simple_object(in, out, value, kind);
        return;
    }
    for (uint32_t i = 0; i < in->depth; i++) {
        if (JS_VALUE_GET_PTR(in->open[i]) != JS_VALUE_GET_PTR(value)) continue;
        text_literal(out, "[Circular]");
        return;
    }
    if (in->depth == DEPTH || !in->budget) {
        text_literal(out, kind == KIND_ARRAY ? "[Array]" : "[Object]");
        return;
    }
    in->open[in->depth++] = value;
    if (kind == KIND_PROMISE) {
        promise(in, out, value);
    } else {
        if (kind == KIND_ERROR) error_summary(out, in->ctx, value);
        container(in, out, value, kind);
    }
    in->depth--;
}

static void any(Inspector *in, Text *out, JSValueConst value) {
    switch (JS_VALUE_GET_NORM_TAG(value)) {
    case JS_TAG_STRING: case JS_TAG_STRING_ROPE:
        quoted(in, out, value);
        break;
    case JS_TAG_SYMBOL:
        symbol(in, out, value);
        break;
    case JS_TAG_OBJECT:
        object(in, out, value);
        break;
    case JS_TAG_FLOAT64:
        if (JS_VALUE_GET_FLOAT64(value) == 0 && signbit(JS_VALUE_GET_FLOAT64(value))) text_char(out, '-');
        converted(in, out, value);
        break;
    default:
        converted(in, out, value);
    }
}

void inspect(Text *out, JSContext *ctx, JSValueConst value) {
    Inspector in = {.ctx = ctx, .budget = LENGTH};
    any(&in, out, value);
}
