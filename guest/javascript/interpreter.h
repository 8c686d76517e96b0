// What the guest needs of QuickJS beyond its public header. Everything that depends on the interpreter's internals is
// behind this file, in interpreter.c, so that a new interpreter version is checked in one place.
#ifndef HOTCELL_INTERPRETER_H
#define HOTCELL_INTERPRETER_H

#include <stdbool.h>
#include <stdint.h>

#include "quickjs.h"

// A runtime that keeps a little memory back until there is no other, so that the error about that can be made.
JSRuntime *runtime_new(void);

// The file name of the program in every position the model sees.
#define PROGRAM_FILE "program.js"
// The file name of our own JavaScript; its frames are never shown.
#define PRELUDE_FILE "<prelude>"

// What the program's text looks like at top level, for the hints.
typedef struct {
    // The last statement is an expression that can have no effect.
    bool trailing_expression;
    // "run" or "main" when the program only declares things, that function among them; else NULL.
    const char *entry;
} Outline;

// Compiles the text, which ends with a line break or is empty, as the body of a strict async function and returns that
// function. Only the text is parsed: no wrapper exists that it could close, and every position is its own.
JSValue compile_program(JSContext *ctx, const char *text, size_t length, Outline *outline);

// Restarts Math.random and the order of hash tables. May only be called while no Map or Set exists.
void seed_random(JSContext *ctx, uint64_t seed);

// The code units of a string, in place: exactly one of `narrow` and `wide` is set.
typedef struct {
    const uint8_t *narrow;
    const uint16_t *wide;
    uint32_t length;
    JSValue owner;
} StringView;

bool string_view(JSContext *ctx, JSValueConst string, StringView *view);
void view_free(JSContext *ctx, StringView *view);

// The code point at `*at`, which moves on; a lone surrogate is returned as it is.
static inline uint32_t view_code_point(const StringView *view, uint32_t *at) {
    if (view->narrow) return view->narrow[(*at)++];
    uint32_t unit = view->wide[(*at)++];
    if ((unit & 0xFC00) == 0xD800 && *at < view->length) {
        uint32_t low = view->wide[*at];
        if ((low & 0xFC00) == 0xDC00) {
            ++*at;
            return 0x10000 + ((unit & 0x3FF) << 10 | (low & 0x3FF));
        }
    }
    return unit;
}

// A property key from UTF-8; unlike JS_NewAtomLen also right beyond ASCII.
JSAtom key_from_utf8(JSContext *ctx, const char *bytes, size_t length);

// Gives an object that was just made a property, or the property a new value. Takes the value over. False with an
// exception when memory runs out.
bool property_add(JSContext *ctx, JSValueConst plain_object, JSAtom key, JSValue value);

// What an object is, as far as the boundary and the console care.
typedef enum {
    KIND_PLAIN, KIND_ARRAY, KIND_BOXED, KIND_RAW_JSON, KIND_DATE, KIND_FUNCTION, KIND_ERROR, KIND_PROMISE, KIND_MAP,
    KIND_SET, KIND_REGEXP, KIND_TYPED_ARRAY, KIND_BYTES, KIND_PROXY, KIND_OTHER,
} Kind;

Kind object_kind(JSContext *ctx, JSValueConst object);
// The primitive inside a Number, String, Boolean, BigInt, Symbol or Date object.
JSValue unbox(JSContext *ctx, JSValueConst object);
// Array.isArray, which looks through proxies. -1 with an exception for a revoked one.
int is_array(JSContext *ctx, JSValueConst value);

// Entries of a Map or Set in order, without running any of the program's code. `*cursor` starts as NULL; the values
// are borrowed. False at the end.
bool next_entry(JSValueConst map_or_set, void **cursor, JSValue *key, JSValue *value);
uint32_t entry_count(JSValueConst map_or_set);

// The length of an array or typed array as it is, and whether it has nothing but elements.
uint32_t array_length(JSValueConst array, bool *only_elements);
// `/source/flags` and the ISO form, or NULL for an invalid date, without running any of the program's code.
JSValue regexp_text(JSContext *ctx, JSValueConst regexp);
JSValue date_text(JSContext *ctx, JSValueConst date);

JSValue bigint_from_digits(JSContext *ctx, const char *zero_terminated);

// A promise that only the guest settles; settling looks at no property of the value.
JSValue promise_new(JSContext *ctx);
void promise_settle(JSContext *ctx, JSValueConst promise, JSValueConst value, bool rejected);

// Where in the program a call was made; kept until it is over, turned into text only if it fails.
#define CALL_SITE_FRAMES 4
typedef struct {
    JSValue function[CALL_SITE_FRAMES];
    uint32_t position[CALL_SITE_FRAMES];
    uint32_t count;
} CallSite;

void call_site_take(JSContext *ctx, CallSite *site);
JSValue call_site_stack(JSContext *ctx, const CallSite *site);
void call_site_free(JSContext *ctx, CallSite *site);

// The stack of an error object as text, or undefined; runs none of the program's code.
JSValue error_stack(JSContext *ctx, JSValueConst error);
// An error object with this prototype, message and stack. Consumes none of them; runs none of the program's code.
JSValue error_new(JSContext *ctx, JSValueConst prototype, JSValueConst message, JSValueConst stack);

#endif
