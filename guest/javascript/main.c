// The two exports: who this guest is, and one run from its program to its answer.
//
// Invariant: `run` answers exactly once, through `complete` or `fail`, and returns with the handle dropped.
#include <stdlib.h>
#include <string.h>

#include "clone.h"
#include "console.h"
#include "errors.h"
#include "guest.h"
#include "interpreter.h"
#include "json.h"
#include "prelude.h"
#include "timers.h"
#include "tools.h"
#include "unhandled.h"
#include "web.h"

// Of the C stack, which holds the interpreter's frames; past it a program gets a RangeError. The rest of the linker's
// stack is for the C code that runs beyond the last check.
#define STACK_BYTES (256 * 1024)
// Short runs never reach it; long ones collect as the interpreter sees fit.
#define COLLECT_FROM_BYTES (4 * 1024 * 1024)
// Free heap left in the snapshot, so that a short run need not ask for memory.
#define SPARE_BYTES (1024 * 1024)

#define DIGITS_(number) #number
#define DIGITS(number) DIGITS_(number)
#define INTERPRETER_VERSION DIGITS(QJS_VERSION_MAJOR) "." DIGITS(QJS_VERSION_MINOR) "." DIGITS(QJS_VERSION_PATCH)

Execution execution;
bool running;
static JSRuntime *runtime;
static JSContext *ctx;
// The promise of the program that runs, or undefined.
static JSValue program_promise;

extern void __wasm_call_ctors(void);

// Two bytes more than asked for, and zero: incoming texts are read in place up to their end, and the program gets a
// line break after its last line.
__attribute__((export_name("cabi_realloc"))) void *cabi_realloc(void *old, size_t old_size, size_t align, size_t size) {
    (void)old_size;
    if (!size) return (void *)align;
    unsigned char *bytes = realloc(old, size + 2);
    if (!bytes) abort();
    bytes[size] = bytes[size + 1] = 0;
    return bytes;
}

// --- before the snapshot --------------------------------------------------------------------------------------------

__attribute__((export_name("_initialize"))) void initialize(void) {
    __wasm_call_ctors();
}

// Takes the holes that the set-up has left in the heap, for good: what a run allocates then lies together, above all of it, and
// fewer pages are written to.
static void fill_holes(void) {
    char *above = malloc(64 * 1024);
    for (size_t size = 32 * 1024; size >= 16; size = size > 512 ? size / 2 : size - 16) {
        char *block;
        while ((block = malloc(size)) && block < above) *block = 0;
        free(block);
    }
    free(above);
}

__attribute__((export_name("set-up"))) void set_up(void) {
    runtime = runtime_new();
    ctx = JS_NewContext(runtime);
    JS_SetMaxStackSize(runtime, STACK_BYTES);
    unhandled_watch(runtime);
    JSValue global = JS_GetGlobalObject(ctx);
    console_bind(ctx, global);
    timers_bind(ctx, global);
    clone_bind(ctx, global);
    JSValue make = JS_Eval(ctx, prelude, sizeof prelude - 1, PRELUDE_FILE, JS_EVAL_TYPE_GLOBAL);
    JSValue error_class = JS_Call(ctx, make, JS_UNDEFINED, 0, NULL);
    if (JS_IsException(error_class)) abort();
    JS_FreeValue(ctx, make);
    web_bind(ctx);
    json_prepare(ctx);
    tools_prepare(ctx, error_class);
    JS_FreeValue(ctx, global);
    JS_RunGC(runtime);
    JS_SetGCThreshold(runtime, COLLECT_FROM_BYTES);
    fill_holes();
    free(malloc(SPARE_BYTES));
}

// --- answering ------------------------------------------------------------------------------------------------------

static void answer_failure(hotcell_guest_host_failure_kind_t kind, const Text *message) {
    static const char exhausted[] = "the program ran out of memory";
    hotcell_guest_host_failure_t failure = {kind, borrowed(message)};
    unhandled_report(ctx, program_promise);
    if (message->failed) failure.message = (guest_string_t){(uint8_t *)exhausted, sizeof exhausted - 1};
    hotcell_guest_host_method_execution_fail(execution, &failure);
}

static void answer_exception(JSValue thrown) {
    Text message = {0};
    thrown_text(&message, ctx, thrown);
    answer_failure(HOTCELL_GUEST_HOST_FAILURE_KIND_EXCEPTION, &message);
    JS_FreeValue(ctx, thrown);
    text_free(&message);
}

static void answer_stalled(void) {
    Text message = {0};
    text_literal(&message, "the program awaits something that no pending call or timer can settle");
    answer_failure(HOTCELL_GUEST_HOST_FAILURE_KIND_EXCEPTION, &message);
    text_free(&message);
}

static void hint(const Outline *outline) {
    Text entry = {0};
    if (outline->entry) {
        text_literal(&entry, "hint: the program defines ");
        text_literal(&entry, outline->entry);
        text_literal(&entry, " but does not call it; end with `return await ");
        text_literal(&entry, outline->entry);
        text_literal(&entry, "()`");
    } else if (outline->trailing_expression) {
        text_literal(&entry, "hint: the last line is an expression, and the result is only what `return` gives back");
    } else {
        return;
    }
    console_emit(&entry);
    text_free(&entry);
}

static void answer_result(JSValue value, const Outline *outline) {
    Text result = {0}, fault = {0};
    guest_string_t text;
    switch (json_write(ctx, value, "result", &result, &fault)) {
    case JSON_NOTHING:
        hint(outline);
        unhandled_report(ctx, program_promise);
        hotcell_guest_host_method_execution_complete(execution, NULL);
        break;
    case JSON_WRITTEN:
        text = borrowed(&result);
        unhandled_report(ctx, program_promise);
        hotcell_guest_host_method_execution_complete(execution, &text);
        break;
    case JSON_FAULT:
        answer_failure(HOTCELL_GUEST_HOST_FAILURE_KIND_INVALID_OUTPUT, &fault);
        break;
    case JSON_THREW:
        answer_exception(JS_GetException(ctx));
        break;
    }
    JS_FreeValue(ctx, value);
    text_free(&result);
    text_free(&fault);
}

// --- running --------------------------------------------------------------------------------------------------------

// Runs the jobs that are ready until there are none or the program has settled. The exception of a job, or undefined.
static JSValue run_jobs(JSValueConst program) {
    JSContext *owner;
    while (JS_PromiseState(ctx, program) == JS_PROMISE_PENDING) {
        int ran = JS_ExecutePendingJob(runtime, &owner);
        if (ran < 0) return JS_GetException(ctx);
        if (!ran) break;
    }
    return JS_UNDEFINED;
}

// Waits for a call or a timer and hands it to the program. False when there is nothing to wait for.
static bool next_event(JSValue *thrown) {
    hotcell_guest_host_event_t event;
    uint64_t timeout;
    bool timed = timers_wait(&timeout);
    hotcell_guest_host_method_execution_next(execution, timed ? &timeout : NULL, &event);
    if (event.tag == HOTCELL_GUEST_HOST_EVENT_SETTLED) {
        tools_settle(ctx, &event.val.settled);
        return true;
    }
    if (!timed) return false;
    *thrown = timers_fire(ctx, true);
    return true;
}

static void finish(JSValueConst program, const Outline *outline) {
    for (;;) {
        JSValue thrown = run_jobs(program);
        if (JS_IsUndefined(thrown)) {
            switch (JS_PromiseState(ctx, program)) {
            case JS_PROMISE_FULFILLED:
                answer_result(JS_PromiseResult(ctx, program), outline);
                return;
            case JS_PROMISE_REJECTED:
                answer_exception(JS_PromiseResult(ctx, program));
                return;
            default:
                if (!next_event(&thrown)) {
                    answer_stalled();
                    return;
                }
            }
        }
        if (!JS_IsUndefined(thrown)) {
            answer_exception(thrown);
            return;
        }
    }
}

static void seed(void) {
    guest_list_u8_t bytes;
    uint64_t value = 0;
    hotcell_guest_host_method_execution_entropy(execution, sizeof value, &bytes);
    memcpy(&value, bytes.ptr, bytes.len < sizeof value ? bytes.len : sizeof value);
    guest_list_u8_free(&bytes);
    seed_random(ctx, value);
}

static bool bind_globals(const guest_list_namespace_t *namespaces) {
    JSValue global = JS_GetGlobalObject(ctx);
    bool bound = tools_bind(ctx, global, namespaces);
    JS_FreeValue(ctx, global);
    return bound;
}

// The program's text, ended by a line break, so that every rule about the end of a line also holds at its end.
static JSValue compile(const guest_string_t *text, Outline *outline) {
    if (!text->len) return compile_program(ctx, "", 0, outline);
    text->ptr[text->len] = '\n';
    return compile_program(ctx, (const char *)text->ptr, text->len + 1, outline);
}

void exports_guest_run(guest_borrow_execution_t lent, guest_string_t *text, guest_list_namespace_t *namespaces) {
    Outline outline = {0};
    JSValue function = JS_EXCEPTION, program = JS_EXCEPTION;
    execution = lent;
    running = true;
    program_promise = JS_UNDEFINED;
    JS_UpdateStackTop(runtime);
    seed();
    if (bind_globals(namespaces)) function = compile(text, &outline);
    if (!JS_IsException(function)) program = JS_Call(ctx, function, JS_UNDEFINED, 0, NULL);
    program_promise = JS_IsException(program) ? JS_UNDEFINED : program;
    if (JS_IsException(program)) answer_exception(JS_GetException(ctx));
    else finish(program, &outline);
    running = false;
    hotcell_guest_host_execution_drop_borrow(lent);
}

void exports_guest_announce(guest_announcement_t *announcement) {
    guest_string_dup(&announcement->language, "javascript");
    guest_string_dup(&announcement->interpreter, "quickjs-ng");
    guest_string_dup(&announcement->version, INTERPRETER_VERSION);
    guest_string_dup(&announcement->contract, "0.1");
}
