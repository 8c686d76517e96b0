// See unhandled.h.
//
// Invariant: the interpreter itself says which promises are rejected and which are handled, so nothing that a program
// replaces changes it. Where memory runs out, a rejection may go untold; the program goes on.
#include "unhandled.h"

#include <stdlib.h>

#include "errors.h"
#include "guest.h"

// The host keeps the messages of so many.
#define TOLD_WITH_MESSAGE 50

typedef struct {
    JSValue promise;
    JSValue reason;
    uint64_t call;
} Rejection;

// In the order of rejection.
static Rejection *rejections;
static uint32_t count, capacity;
static uint64_t current_call;

static void add(JSContext *ctx, JSValueConst promise, JSValueConst reason) {
    if (count == capacity) {
        uint32_t larger = capacity ? capacity * 2 : 8;
        Rejection *moved = realloc(rejections, larger * sizeof *moved);
        if (!moved) return;
        rejections = moved;
        capacity = larger;
    }
    rejections[count++] = (Rejection){JS_DupValue(ctx, promise), JS_DupValue(ctx, reason), current_call};
}

static bool same(JSValueConst a, JSValueConst b) {
    return JS_VALUE_GET_TAG(b) == JS_TAG_OBJECT && JS_VALUE_GET_PTR(a) == JS_VALUE_GET_PTR(b);
}

static void remove_handled(JSContext *ctx, JSValueConst promise) {
    // The latest is usually the one.
    for (uint32_t i = count; i-- > 0;) {
        if (!same(rejections[i].promise, promise)) continue;
        JS_FreeValue(ctx, rejections[i].promise);
        JS_FreeValue(ctx, rejections[i].reason);
        count--;
        for (; i < count; i++) rejections[i] = rejections[i + 1];
        return;
    }
}

static void track(JSContext *ctx, JSValueConst promise, JSValueConst reason, bool is_handled, void *opaque) {
    (void)opaque;
    if (is_handled) remove_handled(ctx, promise);
    else add(ctx, promise, reason);
}

void unhandled_watch(JSRuntime *runtime) {
    JS_SetHostPromiseRejectionTracker(runtime, track, NULL);
}

void unhandled_of_call(uint64_t number) {
    current_call = number;
}

void unhandled_report(JSContext *ctx, JSValueConst program) {
    uint32_t told = 0;
    for (uint32_t i = 0; i < count; i++) {
        Rejection *one = &rejections[i];
        if (same(one->promise, program)) continue;
        Text message = {0};
        if (told++ < TOLD_WITH_MESSAGE) thrown_text(&message, ctx, one->reason);
        guest_string_t text = borrowed(&message);
        hotcell_guest_host_method_execution_unhandled(execution, one->call ? &one->call : NULL, &text);
        text_free(&message);
    }
}
