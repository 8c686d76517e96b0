// See timers.h.
//
// Invariant: `timers` is a binary heap, the one due first at 0; equal times keep the order in which they were set.
#include "timers.h"

#include <stdlib.h>

#include "guest.h"

#define NANOSECONDS_PER_MILLISECOND 1000000u
// What other hosts do with a delay outside of 1 to 2^31-1: it becomes 1.
#define LONGEST_DELAY 2147483647.0

typedef struct {
    uint32_t id;
    uint64_t due;
    // Decides between equal times.
    uint64_t turn;
    // Zero for a timer that fires once.
    uint64_t interval;
    JSValue function;
    int argc;
    JSValue *argv;
} Timer;

static Timer *timers;
static uint32_t count, capacity, last_id;
static uint64_t last_turn;
// The interval that is running, so that it can clear itself.
static uint32_t firing;
static bool firing_cleared;

static uint64_t now(void) {
    return running ? hotcell_guest_host_method_execution_monotonic_clock(execution) : 0;
}

static void release(JSContext *ctx, Timer *timer) {
    JS_FreeValue(ctx, timer->function);
    for (int i = 0; i < timer->argc; i++) JS_FreeValue(ctx, timer->argv[i]);
    free(timer->argv);
}

static bool before(const Timer *one, const Timer *other) {
    return one->due != other->due ? one->due < other->due : one->turn < other->turn;
}

// Fills the hole at `at`, moving it to where the timer belongs.
static void place(uint32_t at, Timer timer) {
    while (at) {
        uint32_t parent = (at - 1) / 2;
        if (!before(&timer, &timers[parent])) break;
        timers[at] = timers[parent];
        at = parent;
    }
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(&timers[child + 1], &timers[child])) child++;
        if (!before(&timers[child], &timer)) break;
        timers[at] = timers[child];
    }
    timers[at] = timer;
}

static bool insert(Timer timer) {
    if (count == capacity) {
        uint32_t larger = capacity ? capacity * 2 : 8;
        Timer *moved = realloc(timers, larger * sizeof *moved);
        if (!moved) return false;
        timers = moved;
        capacity = larger;
    }
    timer.turn = ++last_turn;
    count++;
    place(count - 1, timer);
    return true;
}

static Timer take(uint32_t at) {
    Timer taken = timers[at], last = timers[--count];
    if (at < count) place(at, last);
    return taken;
}

static uint64_t delay_of(JSContext *ctx, JSValueConst value, bool *threw) {
    double milliseconds = 0;
    *threw = JS_ToFloat64(ctx, &milliseconds, value) < 0;
    if (!(milliseconds >= 1 && milliseconds <= LONGEST_DELAY)) milliseconds = 1;
    return (uint64_t)(milliseconds * NANOSECONDS_PER_MILLISECOND);
}

static JSValue set(JSContext *ctx, JSValueConst receiver, int argc, JSValueConst *argv, int repeats) {
    (void)receiver;
    bool threw = false;
    if (!JS_IsFunction(ctx, argv[0]))
        return JS_ThrowTypeError(ctx, "%s takes a function", repeats ? "setInterval" : "setTimeout");
    uint64_t delay = delay_of(ctx, argc > 1 ? argv[1] : JS_UNDEFINED, &threw);
    if (threw) return JS_EXCEPTION;
    Timer timer = {.id = ++last_id, .due = now() + delay, .interval = repeats ? delay : 0};
    timer.argc = argc > 2 ? argc - 2 : 0;
    timer.argv = timer.argc ? malloc(timer.argc * sizeof *timer.argv) : NULL;
    if (timer.argc && !timer.argv) return JS_ThrowOutOfMemory(ctx);
    for (int i = 0; i < timer.argc; i++) timer.argv[i] = JS_DupValue(ctx, argv[i + 2]);
    timer.function = JS_DupValue(ctx, argv[0]);
    if (!insert(timer)) {
        release(ctx, &timer);
        return JS_ThrowOutOfMemory(ctx);
    }
    return JS_NewUint32(ctx, timer.id);
}

static JSValue clear(JSContext *ctx, JSValueConst receiver, int argc, JSValueConst *argv) {
    (void)receiver, (void)argc;
    int64_t id;
    if (!JS_IsNumber(argv[0]) || JS_ToInt64(ctx, &id, argv[0])) return JS_UNDEFINED;
    if (firing && id == firing) firing_cleared = true;
    for (uint32_t i = 0; i < count; i++) {
        if (timers[i].id != id) continue;
        Timer timer = take(i);
        release(ctx, &timer);
        break;
    }
    return JS_UNDEFINED;
}

bool timers_wait(uint64_t *nanoseconds) {
    if (!count) return false;
    uint64_t due = timers[0].due, at = now();
    *nanoseconds = due > at ? due - at : 0;
    return true;
}

JSValue timers_fire(JSContext *ctx, bool waited) {
    if (!count || (!waited && timers[0].due > now())) return JS_UNDEFINED;
    Timer timer = take(0);
    firing = timer.interval ? timer.id : 0;
    firing_cleared = false;
    JSValue result = JS_Call(ctx, timer.function, JS_UNDEFINED, timer.argc, timer.argv);
    firing = 0;
    bool again = timer.interval && !firing_cleared;
    if (again) timer.due = now() + timer.interval;
    if (!again || !insert(timer)) release(ctx, &timer);
    JSValue thrown = JS_IsException(result) ? JS_GetException(ctx) : JS_UNDEFINED;
    JS_FreeValue(ctx, result);
    return thrown;
}

static void bind(JSContext *ctx, JSValueConst global, const char *name, JSValue function) {
    JS_DefinePropertyValueStr(ctx, global, name, function, JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
}

void timers_bind(JSContext *ctx, JSValueConst global) {
    bind(ctx, global, "setTimeout", JS_NewCFunctionMagic(ctx, set, "setTimeout", 2, JS_CFUNC_generic_magic, false));
    bind(ctx, global, "setInterval", JS_NewCFunctionMagic(ctx, set, "setInterval", 2, JS_CFUNC_generic_magic, true));
    bind(ctx, global, "clearTimeout", JS_NewCFunction(ctx, clear, "clearTimeout", 1));
    bind(ctx, global, "clearInterval", JS_NewCFunction(ctx, clear, "clearInterval", 1));
}
