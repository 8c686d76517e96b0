// The lossless JSON boundary: every value that enters or leaves a program passes here.
//
// Invariant: what leaves is exactly what the program's value states, or an error that names the path. None of the
// program's replaced built-ins is consulted, except an object's own `toJSON`, getters and proxy traps.
#ifndef HOTCELL_JSON_H
#define HOTCELL_JSON_H

#include "quickjs.h"
#include "text.h"

// Containers inside containers, in both directions. The host has the same limit.
#define JSON_DEPTH 512

typedef enum {
    JSON_WRITTEN,
    // The value is undefined: nothing was written.
    JSON_NOTHING,
    // The value cannot cross; `fault` says why and where.
    JSON_FAULT,
    // The program's own code threw, or memory ran out; the exception is pending.
    JSON_THREW,
} JsonOutcome;

// Makes the names the boundary looks up; once, before the snapshot.
void json_prepare(JSContext *ctx);

// Appends `value` to `out`. `root` is the value's name in paths.
JsonOutcome json_write(JSContext *ctx, JSValueConst value, const char *root, Text *out, Text *fault);

// Reads one JSON text. `bytes[length]` must be NUL. Integers that a Number cannot hold become BigInts.
JSValue json_read(JSContext *ctx, const char *bytes, size_t length);

#endif
