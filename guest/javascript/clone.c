// See clone.h.
//
// Invariant: only bytes that were written here a moment ago are read back, and never code.
#include "clone.h"

static JSValue structured_clone(JSContext *ctx, JSValueConst receiver, int argc, JSValueConst *argv) {
    (void)receiver, (void)argc;
    size_t length;
    uint8_t *bytes = JS_WriteObject(ctx, &length, argv[0], JS_WRITE_OBJ_REFERENCE);
    if (!bytes) return JS_EXCEPTION;
    JSValue copy = JS_ReadObject(ctx, bytes, length, JS_READ_OBJ_REFERENCE);
    js_free(ctx, bytes);
    return copy;
}

void clone_bind(JSContext *ctx, JSValueConst global) {
    JS_DefinePropertyValueStr(ctx, global, "structuredClone", JS_NewCFunction(ctx, structured_clone, "structuredClone", 1),
                              JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
}
